"""Shows translations that were not chosen by hand: those with the best, the median, and the worst chrF.

The first system decides which sentences are shown; of equal scores, the earlier sentence comes first. Every system's
translation stands below the source and the reference, with its chrF in front of it. The output is Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence

from ..arguments import add_reference_argument, positive, split_named
from ..evaluation.tables import escape_markdown
from ..evaluation.translated_files import TestSet, read_references, read_translations
from ..text_files import read_sentences, require_same_count


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", required=True, metavar="FILE", help="raw sources")
    add_reference_argument(parser, required=True)
    parser.add_argument(
        "--system",
        action="append",
        required=True,
        metavar="NAME=FILE",
        help="translations, detokenized, or a log of fairseq-generate (*.log); repeatable",
    )
    parser.add_argument("--count", type=positive, default=3, metavar="N", help="sentences of each kind (%(default)s)")


def run(options: argparse.Namespace) -> None:
    """Prints the samples."""
    reference = options.reference[0]
    references, further_references = read_references(options.reference)
    sources = read_sentences(options.source)
    require_same_count(options.source, sources, reference, references)
    if len(references) < 3 * options.count:
        raise ValueError(f"{reference} has {len(references)} sentences, too few for 3 x {options.count} samples")
    files = dict(split_named(options.parser, options.system))
    systems = {name: read_translations(file) for name, file in files.items()}
    for name, translations in systems.items():
        require_same_count(files[name], translations, reference, references)
    test_set = TestSet(references, "", lowercase=False, source=sources, further_references=further_references)
    print("\n".join(show_samples(test_set, systems, options.count)))


def show_samples(test_set: TestSet, systems: Mapping[str, Sequence[str]], count: int) -> Iterator[str]:
    """The lines: a heading for each kind, a list for each sentence."""
    scores = {name: test_set.count("chrf", texts).score_sentences() for name, texts in systems.items()}
    for kind, places in choose_samples(next(iter(scores.values())), count).items():
        yield f"### {kind}\n"
        for place in places:
            yield f"- line {place + 1}, source: {escape_markdown(test_set.source[place])}  "
            for reference in (test_set.reference, *test_set.further_references):
                yield f"  reference: {escape_markdown(reference[place])}  "
            for name, texts in systems.items():
                yield f"  {escape_markdown(name)} ({scores[name][place]:.0f}): {escape_markdown(texts[place])}  "
        yield ""


def choose_samples(scores: Sequence[float], count: int) -> dict[str, list[int]]:
    """Kind to the places of its sentences, best first, for at least three times as many scores as are to be chosen."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    middle = (len(order) - count) // 2
    return {"Best": order[:count], "Median": order[middle : middle + count], "Worst": order[-count:]}
