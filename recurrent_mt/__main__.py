"""``python -m recurrent_mt TOOL …``, which is ``recurrent-mt TOOL …``."""

import sys

from recurrent_mt.cli.command import main

if __name__ == "__main__":
    sys.exit(main())
