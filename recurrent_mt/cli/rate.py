"""Draws sentences for people to rate, and writes a campaign for Pearmut, which hides whose translations they are.

`pearmut add OUT` prints an address for each annotator, and `pearmut run` serves them. `recurrent-mt ratings` reads the
annotations that one downloads from its dashboard.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..arguments import natural, positive, split_named
from ..ratings.campaign import MODES, SIDE_BY_SIDE, make_campaign
from ..ratings.sampling import RatedTexts, sample_screens
from ..text_files import check_output_files, read_sentences, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", metavar="FILE", help="source, one sentence per line; shown if given")
    parser.add_argument(
        "--reference", metavar="FILE", help="reference; shown if given. Source or reference is required"
    )
    parser.add_argument(
        "--system", action="append", required=True, metavar="NAME=FILE", help="a system's translations; repeatable"
    )
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="the campaign, named after the file, with a checksum"
    )
    parser.add_argument(
        "--mode",
        choices=list(MODES),
        default=SIDE_BY_SIDE,
        help="adequacy and fluency of all systems' translations of a sentence side by side, or direct assessment "
        "of one translation at a time from 0 to 100 (default: %(default)s)",
    )
    parser.add_argument("--sentences", type=int, default=20, help="how many sentences to draw (default: %(default)s)")
    parser.add_argument(
        "--annotators",
        type=positive,
        default=2,
        help="how many people rate: all see the same screens, in an order of their own (default: %(default)s)",
    )
    parser.add_argument("--seed", type=natural, default=1, help="seed of all random choices (default: %(default)s)")


def run(options: argparse.Namespace) -> None:
    """Writes the campaign."""
    files = dict(split_named(options.parser, options.system))
    check_output_files([*filter(None, (options.source, options.reference)), *files.values()], [options.out])
    corpus = RatedTexts(
        read_sentences(options.source) if options.source else None,
        read_sentences(options.reference) if options.reference else None,
        {name: read_sentences(path) for name, path in files.items()},
    )
    tasks = sample_screens(corpus, options.mode, options.sentences, annotators=options.annotators, seed=options.seed)
    campaign = make_campaign(Path(options.out).stem, options.mode, tasks)
    write_text(options.out, json.dumps(campaign, indent=1, ensure_ascii=False) + "\n")
    translations = sum(len(screen.translations) for screen in tasks[0])
    print(
        f"{options.out}: for each of {len(tasks)} annotators, {len(tasks[0])} screens with {translations} translations"
    )
