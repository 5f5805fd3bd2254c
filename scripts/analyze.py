#!/usr/bin/env python3
r"""Shows where translation breaks: scores by sentence length, by unknown words, by word frequency, with intervals.

Run folders of the recipes know their test set, systems, seeds and dictionaries:

    python scripts/analyze.py runs/quickstart-fr-en --out analysis

Output of anything else, one sentence a line; several files of one system are its seeds:

    python scripts/analyze.py --source test.fr --reference test.en --target-lang en \\
        --system mine=mine.en --system theirs=theirs-1.en,theirs-2.en --out analysis
"""

import argparse
import sys
from pathlib import Path

from recurrent_mt.evaluation.analysis import analyze
from recurrent_mt.evaluation.command_line import add_input_arguments, read_input
from recurrent_mt.evaluation.plots import write_plots
from recurrent_mt.evaluation.tables import tables_as_text


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_input_arguments(parser)
    parser.add_argument("--out", required=True, help="folder for analysis.txt, .md, .json and the plots")
    arguments = parser.parse_args()
    try:
        result = analyze(**read_input(parser, arguments))
        folder = Path(arguments.out)
        folder.mkdir(parents=True, exist_ok=True)
        result.write(folder / "analysis")
        write_plots(result, folder)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    print(tables_as_text(result.tables()), end="")


if __name__ == "__main__":
    main()
