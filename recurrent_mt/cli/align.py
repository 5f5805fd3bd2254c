r"""Draws the alignments of a model with attention, and measures their entropy and their error rate.

For the model's own translations, from a log of fairseq-generate --print-alignment soft:

    recurrent-mt align --log test.log --sentences 0 3 --out DIR

For given translations, by forced decoding, with gold links (0-0 1-2 …, source first) to compare with:

    recurrent-mt align --checkpoint checkpoint_best.pt --data DATA --source test.fr --target test.en \
        --gold test.fr-en.align --sentences 0 3 --out DIR

DIR gets summary.txt, .md, and .json, a figure for each requested sentence, and, with a checkpoint, alignments.jsonl,
which --alignments takes instead of the checkpoint.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from ..evaluation.alignment.links import GoldLinks, alignment_table, draw_heat_map, read_gold_links, score_alignments
from ..evaluation.alignment.soft_alignment import SoftAlignment, read_alignment_lines, read_alignment_log
from ..evaluation.figures import choose_examples, missing_characters, save_figure
from ..evaluation.tables import tables_as_text, write_results
from ..option_types import positive
from ..plugin_finder import import_from_plugin
from ..subwords import SCHEMES


def configure(parser: argparse.ArgumentParser) -> None:
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument("--log", help="log of fairseq-generate --print-alignment soft, without --post-process")
    origin.add_argument("--checkpoint", help="checkpoint with attention; needs --data, --source, and --target")
    origin.add_argument("--alignments", help="alignments.jsonl from an earlier call")
    parser.add_argument("--data", help="folder of binarized data, for the checkpoint's dictionaries")
    parser.add_argument("--source", help="tokens as the model reads them, one sentence per line")
    parser.add_argument("--target", help="the translations, the same way")
    parser.add_argument(
        "--max-tokens", type=int, default=4000, help="tokens in a batch of forced decoding (%(default)s)"
    )
    parser.add_argument("--gold", help="gold links, one sentence per line: 0-0 is sure, 1?0 possible; not with --log")
    parser.add_argument("--segmentation", choices=SCHEMES, help="merge word pieces before anything else")
    parser.add_argument(
        "--sentences", type=int, nargs="+", default=[], help="numbers, from 0, of the sentences to draw"
    )
    parser.add_argument(
        "--examples", type=positive, metavar="N", help="draw the first N sentences of 5 to 12 source tokens, too"
    )
    parser.add_argument("--source-title", default="source", help="the figures' name for the source, such as French")
    parser.add_argument("--target-title", default="target", help="the same for the target")
    parser.add_argument(
        "--format", choices=("png", "svg", "pdf"), default="png", help="format of the figures (%(default)s)"
    )
    parser.add_argument("--out", required=True, type=Path, help="folder for the results")


def run(options: argparse.Namespace) -> None:
    """Prints the summary, and writes it and the figures to the folder."""
    refuse_contradictions(options)
    options.out.mkdir(parents=True, exist_ok=True)
    found = read_alignments(options)
    alignments = [alignment.merged(options.segmentation) for alignment in found]
    gold = read_gold_links(options.gold) if options.gold else None
    records = score_alignments("attention", alignments, gold)
    tables = [alignment_table(records)]
    examples = choose_examples((alignment.source_words for alignment in found), options.examples or 0)
    draw(options, [*options.sentences, *examples], alignments, gold)
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
    path = options.alignments
    if options.checkpoint:
        path = options.out / "alignments.jsonl"
        import_from_plugin("inspection").write_alignments(options, path)
    return read_alignment_lines(path)


def draw(
    options: argparse.Namespace,
    sentences: Iterable[int],
    alignments: list[SoftAlignment],
    gold: list[GoldLinks] | None,
) -> None:
    """Saves a figure of each of the sentences."""
    for number in sentences:
        if not 0 <= number < len(alignments):
            raise ValueError(f"--sentences {number}: the sentences are 0 to {len(alignments) - 1}")
        alignment = alignments[number]
        if missing := missing_characters([*alignment.source, *alignment.target]):
            print(f"warning: no font here has {' '.join(missing)} (sentence {number})", file=sys.stderr)
        figure = draw_heat_map(
            alignment,
            gold=gold[number].possible if gold else (),
            source_title=options.source_title,
            target_title=options.target_title,
        )
        save_figure(figure, options.out / f"sentence-{number}.{options.format}")
