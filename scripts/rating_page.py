#!/usr/bin/env python3
"""Makes a page on which people rate translations without knowing whose they are, and the key that tells.

OUT is one self-contained HTML file: give it to annotators, who open it from disk or from any web server and send back
the file that it exports. OUT.key.json says which item is whose and which are controls: keep it, rating_scores.py needs
it.
"""

import argparse
import sys
from pathlib import Path

from recurrent_mt.ratings.page import render_key, render_page
from recurrent_mt.ratings.sampling import Corpus, Sample, sample_screens
from recurrent_mt.ratings.scales import MODES, SIDE_BY_SIDE
from recurrent_mt.ratings.study import Study
from recurrent_mt.text_files import read_sentences


def main() -> None:
    """Command line."""
    parser = build_parser()
    arguments = parser.parse_args()
    sample = Sample(arguments.mode, arguments.sentences, arguments.repeats, arguments.degraded, arguments.seed)
    try:
        corpus = Corpus(
            read_sentences(arguments.source) if arguments.source else None,
            read_sentences(arguments.reference) if arguments.reference else None,
            {name: read_sentences(path) for name, path in named_files(parser, arguments.system).items()},
        )
        study = Study(
            mode=arguments.mode,
            systems=tuple(corpus.systems),
            screens=sample_screens(corpus, sample),
            seed=arguments.seed,
            title=arguments.title,
            source_language=arguments.source_lang,
            target_language=arguments.target_lang,
        )
        key_file = f"{arguments.out}.key.json"
        # The key first: a page without a key would be rated in vain.
        write(key_file, render_key(study))
        write(arguments.out, render_page(study))
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"{arguments.out}: {summary(study)}\n{key_file}: whose they are; keep it from the annotators")


def build_parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", metavar="FILE", help="source, one sentence a line; shown if given")
    parser.add_argument("--reference", metavar="FILE", help="reference; shown if given. One of the two is needed")
    parser.add_argument(
        "--system", action="append", required=True, metavar="NAME=FILE", help="a system's translations; repeatable"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="the page; its key goes to FILE.key.json")
    parser.add_argument(
        "--mode",
        choices=list(MODES),
        default=SIDE_BY_SIDE,
        help="adequacy and fluency of all systems' translations of a sentence beside each other, or direct assessment "
        "of one translation at a time from 0 to 100 (default: %(default)s)",
    )
    parser.add_argument("--sentences", type=int, default=20, help="how many are drawn (default: %(default)s)")
    parser.add_argument("--repeats", type=int, help="screens shown twice (default: a tenth, at least 5)")
    parser.add_argument(
        "--degraded", type=int, help="screens shown again with a damaged translation (default: a tenth, at least 8)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of all random choices (default: %(default)s)")
    parser.add_argument("--title", default="Rating of translations", help="heading (default: %(default)s)")
    parser.add_argument("--source-lang", default="", help="language tag of the source, for fonts and screen readers")
    parser.add_argument("--target-lang", default="", help="the same of the translations")
    return parser


def named_files(parser: argparse.ArgumentParser, values: list[str]) -> dict[str, str]:
    """``NAME=FILE``, each in two."""
    files: dict[str, str] = {}
    for value in values:
        name, equals, file = value.partition("=")
        if not (name and equals and file):
            parser.error(f"--system must be NAME=FILE, not '{value}'")
        if name in files:
            parser.error(f"--system {name} is given twice")
        files[name] = file
    return files


def summary(study: Study) -> str:
    """What there is to rate."""
    items = [item for screen in study.screens for item in screen.items]
    controls = {
        kind: len({item.identifier.split(".")[0] for item in items if item.kind == kind})
        for kind in ("repeat", "degraded")
    }
    return (
        f"{len(study.screens)} screens with {len(items)} translations, among them {controls['repeat']} repeated and "
        f"{controls['degraded']} degraded screens"
    )


def write(path: str, text: str) -> None:
    """Writes aside, then renames."""
    partial = Path(f"{path}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.rename(path)


if __name__ == "__main__":
    main()
