#!/usr/bin/env python3
r"""Draws the alignments of a model with attention, and measures their entropy and their error rate.

Of translations that the model made, out of a log of fairseq-generate --print-alignment soft:

    python scripts/alignments.py --log test.log --sentences 0 3 --out DIR

Of given translations, by forced decoding, with gold links (0-0 1-2 …, source first) to compare with:

    python scripts/alignments.py --checkpoint checkpoint_best.pt --data DATA --source test.fr --target test.en \
        --gold test.fr-en.align --sentences 0 3 --out DIR

DIR gets summary.txt, summary.json, a figure for each sentence asked for and, of a checkpoint, alignments.jsonl, which
--alignments takes in place of the checkpoint.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from recurrent_mt.evaluation.alignment.heat_map import draw_heat_map
from recurrent_mt.evaluation.alignment.links import GoldLinks, alignment_table, read_gold_links, score_alignments
from recurrent_mt.evaluation.alignment.soft_alignment import SoftAlignment, read_alignment_lines, read_alignment_log
from recurrent_mt.evaluation.figures import missing_characters, save_figure
from recurrent_mt.evaluation.subwords import SCHEMES
from recurrent_mt.evaluation.tables import tables_as_text, write_results
from recurrent_mt.text_files import read_sentences


def main() -> None:
    """Command line."""
    parser = build_parser()
    options = parser.parse_args()
    check(parser, options)
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        alignments = [alignment.merged(options.segmentation) for alignment in read(options)]
        gold = read_gold_links(options.gold) if options.gold else None
        records = score_alignments("attention", alignments, gold)
        tables = [alignment_table(records)]
        draw(options, alignments, gold)
        write_results(options.out / "summary", tables, records)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(tables_as_text(tables), end="")


def build_parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument("--log", help="of fairseq-generate --print-alignment soft, without --post-process")
    origin.add_argument("--checkpoint", help="of a model with attention; needs --data, --source and --target")
    origin.add_argument("--alignments", help="alignments.jsonl of an earlier call")
    parser.add_argument("--data", help="folder of binarised data, for the checkpoint's dictionaries")
    parser.add_argument("--source", help="tokens as the model reads them, a sentence a line")
    parser.add_argument("--target", help="the translations, likewise")
    parser.add_argument("--max-tokens", type=int, default=4000, help="of a batch of forced decoding (%(default)s)")
    parser.add_argument("--gold", help="gold links, a sentence a line: 0-0 is sure, 1?0 possible; not with --log")
    parser.add_argument("--segmentation", choices=SCHEMES, help="merge pieces of words, before anything else")
    parser.add_argument("--sentences", type=int, nargs="+", default=[], help="numbers, from 0, of those to draw")
    parser.add_argument("--source-title", default="source", help="what the figures call the source, such as French")
    parser.add_argument("--target-title", default="target", help="likewise the target")
    parser.add_argument("--format", choices=("png", "svg", "pdf"), default="png", help="of the figures (%(default)s)")
    parser.add_argument("--out", required=True, type=Path, help="folder for the results")
    return parser


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuses options that do not go together."""
    if options.checkpoint and not (options.data and options.source and options.target):
        parser.error("--checkpoint needs --data, --source and --target")
    if not options.checkpoint and (options.data or options.source or options.target):
        parser.error("--data, --source and --target go with --checkpoint")
    if options.log and options.gold:
        parser.error("--gold links are those of given translations, not of a model's own: use --checkpoint")


def read(options: argparse.Namespace) -> list[SoftAlignment]:
    """The alignments, out of the model if need be."""
    if options.log:
        return read_alignment_log(options.log)
    path = options.alignments
    if options.checkpoint:
        # Not needed, and slow to load, where the alignments are there already.
        from user_dir.checkpoints.alignments import forced_alignments
        from user_dir.checkpoints.checkpoint import Checkpoint
        from user_dir.checkpoints.json_lines import write_json_lines

        path = options.out / "alignments.jsonl"
        sides = [read_sentences(file) for file in (options.source, options.target)]
        checkpoint = Checkpoint(options.checkpoint, options.data)
        write_json_lines(path, forced_alignments(checkpoint, *sides, max_tokens=options.max_tokens))
    return read_alignment_lines(path)


def draw(options: argparse.Namespace, alignments: list[SoftAlignment], gold: list[GoldLinks] | None) -> None:
    """Saves a figure of each sentence asked for."""
    for number in options.sentences:
        if not 0 <= number < len(alignments):
            raise ValueError(f"--sentences {number}: there are the sentences 0 to {len(alignments) - 1}")
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


if __name__ == "__main__":
    main()
