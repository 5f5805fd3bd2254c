#!/usr/bin/env python3
r"""Draws the pyramids of a grConv encoder, writes the trees that they imply, and scores these against gold trees.

    python scripts/structure.py --checkpoint checkpoint_best.pt --data DATA --source test.fr --trees test.fr.ptb \
        --sentences 0 3 --out DIR

DIR gets gates.jsonl, which --gates takes in place of the checkpoint; trees.txt, the most probable tree of each
sentence; a figure for each sentence asked for; and with --trees scores.txt and scores.json. How a tree follows from the
gates: recurrent_mt/evaluation/structure/most_probable_tree.py.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from recurrent_mt.evaluation.figures import missing_characters, save_figure
from recurrent_mt.evaluation.structure.most_probable_tree import find_most_probable_tree
from recurrent_mt.evaluation.structure.pyramid import Pyramid, read_pyramids
from recurrent_mt.evaluation.structure.pyramid_figure import draw_pyramid
from recurrent_mt.evaluation.structure.tree_scores import score_trees, tree_tables
from recurrent_mt.evaluation.structure.trees import read_penn_trees, write_brackets
from recurrent_mt.evaluation.subwords import SCHEMES
from recurrent_mt.evaluation.tables import tables_as_text, write_results
from recurrent_mt.text_files import read_sentences, write_text


def main() -> None:
    """Command line."""
    parser = build_parser()
    options = parser.parse_args()
    if options.checkpoint and not (options.data and options.source):
        parser.error("--checkpoint needs --data and --source")
    if options.gates and (options.data or options.source):
        parser.error("--data and --source go with --checkpoint")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        pyramids = read(options)
        draw(options, pyramids)
        write_text(options.out / "trees.txt", trees(pyramids, options.segmentation))
        if options.trees:
            gold = read_penn_trees(options.trees)
            records = score_trees(pyramids, gold, segmentation=options.segmentation, seed=options.seed)
            tables = tree_tables(records, len(gold))
            write_results(options.out / "scores", tables, records, sentences=len(gold), seed=options.seed)
            print(tables_as_text(tables), end="")
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"{len(pyramids)} trees: {options.out / 'trees.txt'}")


def build_parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument("--checkpoint", help="of a grconv_encoder; needs --data and --source")
    origin.add_argument("--gates", help="gates.jsonl of an earlier call")
    parser.add_argument("--data", help="folder of binarised data, for the checkpoint's dictionaries")
    parser.add_argument("--source", help="tokens as the model reads them, a sentence a line")
    parser.add_argument("--max-tokens", type=int, default=4000, help="of a batch (%(default)s)")
    parser.add_argument("--trees", help="gold trees in Penn brackets over the same words, one a line")
    parser.add_argument("--segmentation", choices=SCHEMES, help="make trees over words where the model reads pieces")
    parser.add_argument("--sentences", type=int, nargs="+", default=[], help="numbers, from 0, of those to draw")
    parser.add_argument("--threshold", type=float, default=0.1, help="draw gates above it (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the random trees (%(default)s)")
    parser.add_argument("--format", choices=("png", "svg", "pdf"), default="png", help="of the figures (%(default)s)")
    parser.add_argument("--out", required=True, type=Path, help="folder for the results")
    return parser


def read(options: argparse.Namespace) -> list[Pyramid]:
    """The pyramids, out of the model if need be."""
    path = options.gates
    if options.checkpoint:
        # Not needed, and slow to load, where the gates are there already.
        from user_dir.checkpoints.checkpoint import Checkpoint
        from user_dir.checkpoints.gates import sentence_gates
        from user_dir.checkpoints.json_lines import write_json_lines

        path = options.out / "gates.jsonl"
        sentences = read_sentences(options.source)
        checkpoint = Checkpoint(options.checkpoint, options.data)
        write_json_lines(path, sentence_gates(checkpoint, sentences, max_tokens=options.max_tokens))
    return read_pyramids(path)


def draw(options: argparse.Namespace, pyramids: list[Pyramid]) -> None:
    """Saves a figure of each sentence asked for: pieces of words stay apart in it."""
    for number in options.sentences:
        if not 0 <= number < len(pyramids):
            raise ValueError(f"--sentences {number}: there are the sentences 0 to {len(pyramids) - 1}")
        pyramid = pyramids[number]
        if missing := missing_characters(pyramid.leaves):
            print(f"warning: no font here has {' '.join(missing)} (sentence {number})", file=sys.stderr)
        figure = draw_pyramid(pyramid, threshold=options.threshold, tree=find_most_probable_tree(pyramid))
        save_figure(figure, options.out / f"sentence-{number}.{options.format}")


def trees(pyramids: list[Pyramid], segmentation: str | None) -> str:
    """The most probable trees, one a line."""
    lines = (
        write_brackets(pyramid.merged_words(segmentation), find_most_probable_tree(pyramid, segmentation=segmentation))
        for pyramid in pyramids
    )
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
