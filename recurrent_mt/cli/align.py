r"""Draws the alignments of a model with attention, and measures their entropy and their error rate.

For the model's own translations, from a log of fairseq-generate --print-alignment soft:

    recurrent-mt align --log test.log --sentences 0 3 --out DIR

For given translations, by forced decoding, with gold links (0-0 1-2 …, source first) to compare with:

    recurrent-mt align --checkpoint checkpoint_best.pt --data DATA --source test.fr --target test.en \
        --gold test.fr-en.align --sentences 0 3 --out DIR

DIR gets alignments.jsonl, a matrix of weights a line; summary.txt, .md, and .json; a figure for each requested
sentence; and, with a checkpoint, figures output-N of what the model itself writes (beam 5).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from ..arguments import positive
from ..characters import is_subword, mark_unknown
from ..evaluation.alignment import GoldLinks, SoftAlignment, read_alignment_log, read_gold_links
from ..evaluation.alignment_figures import ATTENTION, alignment_table, draw_heat_map, score_alignments
from ..evaluation.figures import choose_examples, save_figure
from ..evaluation.tables import result_files, tables_as_text, write_results
from ..plugin_finder import import_from_plugin
from ..subwords import END_OF_SENTENCE, SCHEMES, require_scheme
from ..text_files import check_output_files, read_sentences, write_text
from ..translation.model import BEAM

#: What the weights are written to.
MATRICES = "alignments.jsonl"


def configure(parser: argparse.ArgumentParser) -> None:
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument("--log", help="log of fairseq-generate --print-alignment soft, without --post-process")
    origin.add_argument("--checkpoint", help="checkpoint with attention; needs --data, --source, and --target")
    parser.add_argument("--data", help="folder of binarized data, for the checkpoint's dictionaries")
    parser.add_argument("--source", help="tokens as the model reads them, one sentence per line")
    parser.add_argument("--target", help="the translations, the same way")
    parser.add_argument(
        "--max-tokens", type=positive, default=4000, help="tokens in a batch of forced decoding (%(default)s)"
    )
    parser.add_argument(
        "--gold",
        help="gold links, one sentence per line, of words counted from 0: 0-0 is sure, 1?0 possible; not with --log",
    )
    parser.add_argument("--segmentation", choices=SCHEMES, help="merge word pieces before anything else")
    add_figure_arguments(parser)
    parser.add_argument("--source-title", default="source", help="the figures' name for the source, such as French")
    parser.add_argument("--target-title", default="target", help="the same for the target")


def add_figure_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say which sentences are drawn, in which format, and where."""
    parser.add_argument(
        "--sentences", type=int, nargs="+", default=[], help="numbers, from 0, of the sentences to draw"
    )
    parser.add_argument(
        "--examples", type=positive, metavar="N", help="draw the first N sentences of 5 to 12 source tokens, too"
    )
    parser.add_argument(
        "--format", choices=("png", "svg", "pdf"), default="png", help="format of the figures (%(default)s)"
    )
    parser.add_argument("--out", required=True, type=Path, help="folder for the results")


def run(options: argparse.Namespace) -> None:
    """Prints the summary, and writes it and the figures to the folder."""
    refuse_contradictions(options)
    read = filter(None, [options.log, options.source, options.target, options.gold])
    check_output_files(read, [options.out / MATRICES, *result_files(options.out / "summary")])
    options.out.mkdir(parents=True, exist_ok=True)
    found = read_alignments(options)
    sides = [side for one in found for side in (one.source, one.target)]
    require_scheme(sides, options.segmentation)
    if options.gold and not options.segmentation and (piece := next(filter(is_subword, chain(*sides)), None)):
        options.parser.error(f"--gold has links of words, and {piece} is a part of one: give --segmentation")
    alignments = [alignment.merged(options.segmentation) for alignment in found]
    write_alignments(options.out / MATRICES, alignments)
    gold = read_gold_links(options.gold) if options.gold else None
    records = score_alignments(ATTENTION, alignments, gold)
    table = alignment_table(records)
    whose = "the model's own translations" if options.log else f"given translations, the {options.target_title}"
    tables = [replace(table, notes=[f"Weights over {whose}.", *table.notes])]
    examples = choose_examples((alignment.source_words for alignment in found), options.examples or 0)
    draw(options, [*options.sentences, *examples], alignments, gold)
    if options.checkpoint:
        draw_outputs(options, [*options.sentences, *examples])
    write_results(options.out / "summary", tables, records)
    print(tables_as_text(tables), end="")


def refuse_contradictions(options: argparse.Namespace) -> None:
    """Rejects options that do not go together."""
    parser = options.parser
    if options.checkpoint and not (options.data and options.source and options.target):
        parser.error("--checkpoint needs --data, --source and --target")
    if not options.checkpoint and (options.data or options.source or options.target):
        parser.error("--data, --source and --target go with --checkpoint")
    if options.log and options.gold:
        parser.error("--gold has links for given translations, not for a model's own: use --checkpoint")


def read_alignments(options: argparse.Namespace) -> list[SoftAlignment]:
    """The alignments, computed by the model if necessary."""
    if options.log:
        return read_alignment_log(options.log)
    checkpoint = import_from_plugin("checkpoint", "checkpoints").Checkpoint(options.checkpoint, options.data)
    sides = [read_sentences(file) for file in (options.source, options.target)]
    find = import_from_plugin("alignments", "checkpoints").forced_alignments
    return [SoftAlignment.of_lists(*found) for found in find(checkpoint, *sides, max_tokens=options.max_tokens)]


def write_alignments(path: Path, alignments: Sequence[SoftAlignment]) -> None:
    """Writes a JSON object a line: sentence (from 0), source, target, and weights, a row for each target token."""
    fields = ((one.number, one.source, one.target, one.weights.round(5).tolist()) for one in alignments)
    objects = (dict(zip(("sentence", "source", "target", "weights"), values, strict=True)) for values in fields)
    write_text(path, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects))


def draw(
    options: argparse.Namespace,
    sentences: Iterable[int],
    alignments: list[SoftAlignment],
    gold: list[GoldLinks] | None,
) -> None:
    """Saves a heat map of each of the sentences."""
    for number, path in name_figures(options.out, options.format, sentences, len(alignments)):
        figure = draw_heat_map(
            alignments[number],
            gold=gold[number].possible if gold else (),
            source_title=options.source_title,
            target_title=options.target_title,
        )
        save_figure(figure, path)


def draw_outputs(options: argparse.Namespace, sentences: Iterable[int]) -> None:
    """Saves a heat map of the model's own translation of each of the sentences, beside that of the given one."""
    translator = import_from_plugin("translator", "checkpoints").Translator(options.checkpoint, options.data)
    sources = read_sentences(options.source)
    for number in sentences:
        (found,) = translator.translate(sources[number], beam=BEAM, length_penalty=1, count=1)
        source, target = [*sources[number].split(), END_OF_SENTENCE], list(map(mark_unknown, found.tokens))
        alignment = SoftAlignment.of_lists(number, source, target, found.weights).merged(options.segmentation)
        figure = draw_heat_map(alignment, source_title=options.source_title, target_title="output")
        save_figure(figure, options.out / f"output-{number}.{options.format}")


def name_figures(folder: Path, ending: str, sentences: Iterable[int], count: int) -> Iterator[tuple[int, Path]]:
    """Yields each number of a sentence with the path of its figure.

    Raises:
        ValueError: if there is no such sentence.
    """
    for number in sentences:
        if not 0 <= number < count:
            raise ValueError(f"--sentences {number}: the sentences are 0 to {count - 1}")
        yield number, folder / f"sentence-{number}.{ending}"
