"""Makes a synthetic corpus: sentences of a small grammar in two languages, with their trees and alignments.

The folder gets train, valid, and test of the given sizes, one sentence per line: for each, tokens in *.src and *.tgt,
the same as people write it in *.fr and *.en, constituents in brackets in *.ptb, and in *.align which tokens are
aligned, from 0.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..arguments import natural
from ..data.synthetic import PAIRS, writing


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pair", choices=PAIRS, default="fr-en", help="source and target language (%(default)s)")
    parser.add_argument("--out", type=Path, required=True, help="folder to create")
    for split, size in (("train", 20000), ("valid", 1000), ("test", 1000)):
        parser.add_argument(f"--{split}", type=natural, default=size, help=f"sentence pairs for {split} (%(default)s)")
    parser.add_argument("--seed", type=natural, default=1, help="seed of the sentences (%(default)s)")
    parser.add_argument(
        "--max-words", type=int, default=writing.LONGEST, help="most tokens in a sentence (%(default)s)"
    )


def run(options: argparse.Namespace) -> None:
    """Makes the corpus."""
    sizes = {split: getattr(options, split) for split in writing.SPLITS}
    writing.write_corpus(options.out, options.pair, sizes, options.seed, max_words=options.max_words)
    print(f"{options.out}: made")
