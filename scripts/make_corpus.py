#!/usr/bin/env python3
"""Makes the embedded corpus: python scripts/make_corpus.py --pair fr-en --out DIR (Python 3.9 or later)."""

from __future__ import annotations

import argparse
from pathlib import Path

from recurrent_mt.data.synthetic import writing


def main() -> None:
    """Reads the options and writes the corpus; a wrong option ends with status 2 and a sentence."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--pair", default="fr-en", help="source and target language: fr-en or zh-en")
    parser.add_argument("--out", type=Path, required=True, help="folder to make")
    for split, size in (("train", 20000), ("valid", 1000), ("test", 1000)):
        parser.add_argument(f"--{split}", type=int, default=size, help=f"sentence pairs for {split}")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other sentences")
    parser.add_argument("--min-words", type=int, default=writing.SHORTEST, help="fewest tokens of a sentence")
    parser.add_argument("--max-words", type=int, default=writing.LONGEST, help="most tokens of a sentence")
    options = parser.parse_args()
    sizes = {split: getattr(options, split) for split in writing.SPLITS}
    try:
        made = writing.write_corpus(
            options.out,
            options.pair,
            sizes,
            options.seed,
            min_words=options.min_words,
            max_words=options.max_words,
        )
    except (ValueError, FileExistsError, RuntimeError) as error:
        parser.exit(2, f"make_corpus.py: {error}\n")
    if made:
        print((options.out / "README.md").read_text(encoding="utf-8"))
    print(f"{options.out}: {'made' if made else 'is there already, made with the same settings; nothing done'}")


if __name__ == "__main__":
    main()
