"""Makes a page on which people rate translations without knowing whose they are, and the key that says whose.

OUT is one self-contained HTML file: give it to annotators, who open it from disk or from any web server and send back
the file that it exports. OUT.key.json says which item is whose and which are controls. Keep it: `recurrent-mt ratings`
needs it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..arguments import natural, split_named
from ..ratings.sampling import RatedTexts, Sample, sample_screens
from ..ratings.study import MODES, SIDE_BY_SIDE, RatingStudy, render_key, render_page
from ..text_files import FileError, check_output_files, read_sentences, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", metavar="FILE", help="source, one sentence per line; shown if given")
    parser.add_argument(
        "--reference", metavar="FILE", help="reference; shown if given. Source or reference is required"
    )
    parser.add_argument(
        "--system", action="append", required=True, metavar="NAME=FILE", help="a system's translations; repeatable"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="the page; its key goes to FILE.key.json")
    parser.add_argument(
        "--mode",
        choices=list(MODES),
        default=SIDE_BY_SIDE,
        help="adequacy and fluency of all systems' translations of a sentence side by side, or direct assessment "
        "of one translation at a time from 0 to 100 (default: %(default)s)",
    )
    parser.add_argument("--sentences", type=int, default=20, help="how many sentences to draw (default: %(default)s)")
    parser.add_argument("--repeats", type=int, help="screens shown twice (default: a tenth, at least 5)")
    parser.add_argument(
        "--degraded", type=int, help="screens shown again with a damaged translation (default: a tenth, at least 8)"
    )
    parser.add_argument("--seed", type=natural, default=1, help="seed of all random choices (default: %(default)s)")
    parser.add_argument("--title", default="Rating of translations", help="heading (default: %(default)s)")
    parser.add_argument("--source-lang", default="", help="language tag of the source, for fonts and screen readers")
    parser.add_argument("--target-lang", default="", help="the same for the translations")


def run(options: argparse.Namespace) -> None:
    """Writes the page and its key."""
    files, key_file = dict(split_named(options.parser, options.system)), Path(f"{options.out}.key.json")
    check_output_files([*filter(None, (options.source, options.reference)), *files.values()], [options.out, key_file])
    sample = Sample(options.mode, options.sentences, options.repeats, options.degraded, options.seed)
    corpus = RatedTexts(
        read_sentences(options.source) if options.source else None,
        read_sentences(options.reference) if options.reference else None,
        {name: read_sentences(path) for name, path in files.items()},
    )
    study = RatingStudy(
        mode=options.mode,
        systems=tuple(corpus.systems),
        screens=sample_screens(corpus, sample),
        seed=options.seed,
        title=options.title,
        # BCP 47 joins with hyphens.
        source_language=options.source_lang.replace("_", "-"),
        target_language=options.target_lang.replace("_", "-"),
    )
    key = render_key(study)
    # Ratings on a page without its key would be useless: the key first, and that of an earlier page stays.
    if key_file.exists() and key_file.read_bytes() != key.encode("utf-8"):
        raise FileError(key_file, "it is the key of another page, which is worth nothing without: choose another --out")
    write_text(key_file, key)
    write_text(options.out, render_page(study))
    print(f"{options.out}: {summarize(study)}\n{key_file}: says whose they are; keep it from the annotators")


def summarize(study: RatingStudy) -> str:
    """Describes in one line what there is to rate."""
    items = [item for screen in study.screens for item in screen.items]
    controls = {
        kind: len({item.identifier.split(".")[0] for item in items if item.kind == kind})
        for kind in ("repeat", "degraded")
    }
    return (
        f"{len(study.screens)} screens with {len(items)} translations; to see how the annotators rate, "
        f"{controls['repeat']} screens come twice, and {controls['degraded']} again with a damaged translation"
    )
