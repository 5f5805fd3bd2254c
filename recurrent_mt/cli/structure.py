r"""Draws the gates of a grConv encoder, writes the trees that they imply, and scores them against gold trees.

    recurrent-mt structure --checkpoint checkpoint_best.pt --data DATA --source test.fr --trees test.fr.ptb \
        --sentences 0 3 --out DIR

DIR gets trees.txt, the most probable tree of each sentence; a figure for each requested sentence; and, with --trees,
scores.txt, .md, and .json. How a tree follows from the gates: recurrent_mt/evaluation/structure/trees.py. With
--grconv-dilated, a model implies no tree: DIR gets the figures, which show the windows that its nodes join.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..arguments import natural, positive
from ..evaluation.figures import choose_examples, save_figure
from ..evaluation.structure.dependencies import read_dependency_trees
from ..evaluation.structure.gate_figures import draw_sentence
from ..evaluation.structure.gates import PyramidGates, WindowGates, gates_of
from ..evaluation.structure.trees import (
    find_most_probable_tree,
    read_penn_trees,
    score_trees,
    tree_tables,
    write_brackets,
)
from ..evaluation.tables import result_files, tables_as_text, write_results
from ..plugin_finder import import_from_plugin
from ..subwords import SCHEMES, require_scheme
from ..text_files import check_output_files, read_sentences, write_text
from .align import add_figure_arguments, name_figures


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", required=True, help="checkpoint of a grconv_encoder")
    parser.add_argument("--data", required=True, help="folder of binarized data, for the checkpoint's dictionaries")
    parser.add_argument("--source", required=True, help="tokens as the model reads them, one sentence per line")
    parser.add_argument("--max-tokens", type=positive, default=4000, help="tokens in a batch (%(default)s)")
    parser.add_argument(
        "--trees",
        help="gold trees over the same words: Penn brackets, one tree per line, or a dependency treebank, FILE.conllu",
    )
    parser.add_argument("--segmentation", choices=SCHEMES, help="make trees over words when the model reads pieces")
    add_figure_arguments(parser)
    parser.add_argument("--seed", type=natural, default=1, help="seed of the random trees (%(default)s)")


def run(options: argparse.Namespace) -> None:
    """Writes trees, figures, and scores to the folder, and prints the scores."""
    scores = map(Path, result_files(options.out / "scores"))
    trees = [options.out / "trees.txt", *scores]
    check_output_files(filter(None, [options.source, options.trees]), trees)
    options.out.mkdir(parents=True, exist_ok=True)
    gates = load_gates(options)
    # Those of another model, or of other gold trees, would pass for these gates'.
    for path in trees:
        path.unlink(missing_ok=True)
    pyramids = [one for one in gates if isinstance(one, PyramidGates)]
    require_scheme((one.words for one in gates), options.segmentation)
    if options.trees and len(pyramids) < len(gates):
        raise ValueError(
            f"--trees {options.trees}: these gates are of a dilated grConv, which joins the same windows in all "
            "sentences of one length and implies no tree to score: leave --trees out"
        )
    examples = choose_examples((len(one.words) for one in gates), options.examples or 0)
    for number, path in name_figures(options.out, options.format, [*options.sentences, *examples], len(gates)):
        save_figure(draw_sentence(gates[number]), path)
    if len(pyramids) == len(gates):
        write_trees(options, pyramids)
    else:
        print(f"{len(gates)} sentences: {options.out}")


def load_gates(options: argparse.Namespace) -> Sequence[PyramidGates | WindowGates]:
    """The gates of the model over all sentences."""
    find = import_from_plugin("gates", "checkpoints").rooted_gates
    sentences = read_sentences(options.source)
    found = find(options.checkpoint, options.data, sentences, max_tokens=options.max_tokens)
    return list(map(gates_of, found))


def write_trees(options: argparse.Namespace, pyramids: list[PyramidGates]) -> None:
    """Writes the trees and, where there are gold trees, their scores, which it prints."""
    write_text(options.out / "trees.txt", bracket_trees(pyramids, options.segmentation))
    if options.trees:
        is_treebank = Path(options.trees).suffix == ".conllu"
        gold = (read_dependency_trees if is_treebank else read_penn_trees)(options.trees)
        records = score_trees(pyramids, gold, segmentation=options.segmentation, seed=options.seed)
        tables = tree_tables(records, len(gold))
        write_results(options.out / "scores", tables, records, sentences=len(gold), seed=options.seed)
        print(tables_as_text(tables), end="")
    print(f"{len(pyramids)} trees: {options.out / 'trees.txt'}")


def bracket_trees(pyramids: Iterable[PyramidGates], segmentation: str | None) -> str:
    """The trees that the gates imply, one per line."""
    lines = (
        write_brackets(pyramid.merged_words(segmentation), find_most_probable_tree(pyramid, segmentation=segmentation))
        for pyramid in pyramids
    )
    return "".join(f"{line}\n" for line in lines)
