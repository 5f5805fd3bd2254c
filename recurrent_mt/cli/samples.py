"""Shows translations that were not chosen by hand: those with the best, the median, and the worst chrF.

The first system decides which sentences are shown; of equal scores, the earlier sentence comes first. Every system's
translation stands below the source and the reference, with its chrF in front of it. The output is Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence

from ..evaluation.test_set import TestSet
from ..option_types import positive
from ..text_files import read_sentences, require_same_count
from .arguments import split_files


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, metavar="FILE", help="raw sources")
    parser.add_argument("--reference", required=True, metavar="FILE", help="raw references")
    parser.add_argument(
        "--system", action="append", required=True, metavar="NAME=FILE", help="detokenized translations; repeatable"
    )
    parser.add_argument("--count", type=positive, default=3, metavar="N", help="sentences of each kind (%(default)s)")


def run(options: argparse.Namespace) -> None:
    """Prints the samples.

    Raises:
        OSError: if a file cannot be read.
        ValueError: if the files do not fit together, or have fewer sentences than are to be shown.
    """
    references, sources = read_sentences(options.reference), read_sentences(options.source)
    require_same_count(options.source, sources, options.reference, references)
    if len(references) < 3 * options.count:
        raise ValueError(
            f"{options.reference} has {len(references)} sentences, too few for 3 x {options.count} samples"
        )
    files = split_files(options.parser, options.system)
    systems = {name: read_sentences(file) for name, file in files.items()}
    for name, translations in systems.items():
        require_same_count(files[name], translations, options.reference, references)
    test_set = TestSet(references, target_language="", lowercase=False, source=sources)
    print("\n".join(show(test_set, systems, options.count)))


def show(test_set: TestSet, systems: Mapping[str, Sequence[str]], count: int) -> Iterator[str]:
    """The lines: a heading for each kind, a list for each sentence."""
    scores = {name: test_set.count("chrf", texts).score_sentences() for name, texts in systems.items()}
    for kind, places in choose(next(iter(scores.values())), count).items():
        yield f"### {kind}\n"
        for place in places:
            yield f"- line {place + 1}, source: {test_set.source[place]}  "
            yield f"  reference: {test_set.reference[place]}  "
            yield from (f"  {name} ({scores[name][place]:.0f}): {systems[name][place]}  " for name in systems)
        yield ""


def choose(scores: Sequence[float], count: int) -> dict[str, list[int]]:
    """Kind to the places of its sentences, best first, for at least three times as many scores as are to be chosen."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    middle = (len(order) - count) // 2
    return {"Best": order[:count], "Median": order[middle : middle + count], "Worst": order[-count:]}
