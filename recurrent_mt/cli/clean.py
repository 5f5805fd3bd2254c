"""Cleans parallel text: writes the pairs worth training on to OUT.fr and OUT.en, and a report on what went and why.

Text is normalized (Unicode NFC, plain spaces, no control or zero-width characters). It drops pairs that have bytes that
are not UTF-8, are empty, long, identical, held out, of unlikely lengths, mostly numbers or markup, in another language,
misaligned, or seen before. The result does not depend on --jobs. No file appears until everything is done.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..arguments import add_parallel_text_arguments, make_settings, positive
from ..data import cleaning


def configure(parser: argparse.ArgumentParser) -> None:
    add_parallel_text_arguments(parser, several=True)
    parser.add_argument(
        "--exclude",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        metavar="PREFIX",
        help="held-out sets PREFIX.CODE: pairs whose source or target occurs there are dropped",
    )
    parser.add_argument(
        "--max-words",
        type=positive,
        default=100,
        metavar="N",
        help="the most words on a side; in zh, 1.6 characters count as one (100)",
    )
    parser.add_argument(
        "--max-ratio",
        type=float,
        default=3.0,
        metavar="R",
        help="the most words on a side, as a multiple of the other side's (3.0)",
    )
    parser.add_argument(
        "--no-language-check", dest="language_check", action="store_false", help="keep lines in other languages; faster"
    )


def run(options: argparse.Namespace) -> None:
    """Writes the pairs that are kept and the report."""
    languages = (options.source_lang, options.target_lang)
    files = {"sources": options.source, "targets": options.target}
    report = cleaning.clean(make_settings(cleaning.Cleaning, options, languages=languages, **files))
    print(f"{report['kept']:,} of {report['seen']:,} pairs kept. What was dropped, and why: {options.report}")
