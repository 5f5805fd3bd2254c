"""A model's trees beside the baselines, scored against gold trees."""

from __future__ import annotations

import html
import random
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from statistics import mean, stdev
from typing import Any

import numpy as np
import pandas

from ..tables import Cell, Record, Table, make_frame, pivot_cells, score_cell, select
from .gates import PyramidGates
from .trees import (
    BracketingScore,
    GoldTree,
    Spans,
    balanced,
    find_most_probable_tree,
    keep_leaves,
    left_branching,
    random_tree,
    right_branching,
    score_best_possible,
    score_brackets,
)

BASELINES = {"left-branching": left_branching, "right-branching": right_branching, "balanced": balanced}
#: Of everything that is random.
DRAWS = 5
QUOTES = {"``", "''"}
ALL_TOKENS, WITHOUT_PUNCTUATION = "all tokens", "without punctuation"
#: Columns, with the fields of `BracketingScore`.
METRICS = {"precision": "precision", "recall": "recall", "F1": "f1", "sentence F1": "sentence_f1"}


def score_trees(
    pyramids: Sequence[PyramidGates], gold: Sequence[GoldTree], *, segmentation: str | None = None, seed: int = 1
) -> pandas.DataFrame:
    """Scores the trees that the gates imply, the same with shuffled gates, and the baselines.

    Without punctuation, the marks are taken out of both trees before scoring, and the baselines are trees over the
    words that are left. The segmentation is that of the pyramids' leaves, see `find_most_probable_tree`; the seed that
    of the random trees and of the shuffling.

    Returns:
        Records of each kind of tree, as `system`; n counts the sentences of three words or more. Of a kind with chance
        in it, the mean over the draws, with their standard deviation.

    Raises:
        ValueError: if the trees are not those of the sentences, naming the first that is not.
    """
    if len(pyramids) != len(gold):
        raise ValueError(f"{len(pyramids)} sentences, but {len(gold)} gold trees")
    for number, (pyramid, tree) in enumerate(zip(pyramids, gold)):
        check_words(number, pyramid, tree, segmentation)
    found = [find_most_probable_tree(pyramid, segmentation=segmentation) for pyramid in pyramids]
    generator = np.random.default_rng(seed)
    shuffled = [
        [find_most_probable_tree(pyramid.shuffled(generator), segmentation=segmentation) for pyramid in pyramids]
        for _ in range(DRAWS)
    ]
    groups = {
        ALL_TOKENS: [[True] * len(tree.words) for tree in gold],
        WITHOUT_PUNCTUATION: [[not is_punctuation(word) for word in tree.words] for tree in gold],
    }
    records: list[Record] = []
    for by, kept in groups.items():
        for name, draws in score_kinds(found, shuffled, gold, kept, seed):
            records += summarize_draws(name, by, draws)
    return make_frame(records)


def check_words(number: int, pyramid: PyramidGates, tree: GoldTree, segmentation: str | None) -> None:
    """Compares the words of a sentence and of its gold tree, but for case and Moses' escapes (``&apos;``).

    Raises:
        ValueError: if they differ.
    """
    words, gold = (
        [html.unescape(word).casefold() for word in side] for side in (pyramid.merged_words(segmentation), tree.words)
    )
    if words != gold:
        place = next((i for i, (a, b) in enumerate(zip(words, gold)) if a != b), min(len(words), len(gold)))
        theirs = [" ".join(side[place : place + 3]) or "the end" for side in (words, gold)]
        raise ValueError(
            f"sentence {number}, word {place}: the model read {theirs[0]!r}, but the gold tree has {theirs[1]!r}; "
            "gold trees must be over the model's words (pieces of words: name the segmentation)"
        )


def is_punctuation(word: str) -> bool:
    """Whether a token is nothing but punctuation (Unicode's category P) or a treebank's quotation mark."""
    return word in QUOTES or all(unicodedata.category(character)[0] == "P" for character in word)


def score_kinds(
    found: Sequence[Spans],
    shuffled: Sequence[Sequence[Spans]],
    gold: Sequence[GoldTree],
    kept: Sequence[Sequence[bool]],
    seed: int,
) -> Iterator[tuple[str, list[BracketingScore]]]:
    """Each kind of tree over the leaves that are kept, with the score of each draw: one where there is no chance."""
    lengths = [sum(leaves) for leaves in kept]
    expected = [keep_leaves(tree.spans, leaves) for tree, leaves in zip(gold, kept)]

    def score(trees: Iterable[Spans]) -> BracketingScore:
        return score_brackets(list(trees), expected, lengths)

    def score_kept(trees: Iterable[Spans]) -> BracketingScore:
        return score(keep_leaves(tree, leaves) for tree, leaves in zip(trees, kept))

    rng = random.Random(seed)
    yield "grConv", [score_kept(found)]
    yield "grConv, gates shuffled", [score_kept(draw) for draw in shuffled]
    for name, tree in BASELINES.items():
        yield name, [score(map(tree, lengths))]
    yield "random", [score(random_tree(length, rng) for length in lengths) for _ in range(DRAWS)]
    yield "best possible of a binary tree", [score_best_possible(expected, lengths)]


def summarize_draws(name: str, by: str, draws: Sequence[BracketingScore]) -> Iterator[Record]:
    """The mean of each number over the draws."""
    for metric, field in METRICS.items():
        values = [getattr(draw, field) for draw in draws]
        deviation = stdev(values) if len(values) > 1 else None
        yield Record(name, metric, mean(values), by=by, sd=deviation, n=draws[0].sentences)


def tree_tables(records: pandas.DataFrame, sentences: int) -> list[Table]:
    """All tokens, then without punctuation: one row a kind of tree; ``sentences`` is how many were read."""
    notes = [
        "Unlabeled bracketing in percent; phrases of one word and whole sentences are not counted. Precision, recall "
        "and F1: over all sentences together. Sentence F1: the mean over sentences of three words or more, 0 where the "
        "gold tree has no phrase to find (without punctuation, the protocol of Kim et al. 2019). grConv: the most "
        "probable tree by the model's gates. Gates shuffled: the same after shuffling them within each level; the "
        "difference is what their positions say about phrases. ±: mean and standard deviation of "
        f"{DRAWS} draws."
    ]
    tables = []
    for by in (ALL_TOKENS, WITHOUT_PUNCTUATION):
        chosen = select(records, by=by)
        grid = pivot_cells(chosen, "system", "metric", write_cell, header=list(METRICS))
        counted = select(chosen, metric="F1")["n"].iloc[0]
        caption = f"{by.capitalize()}: {sentences:,} sentences, {counted:,} of them of three words or more"
        shown = notes if by == WITHOUT_PUNCTUATION else ()
        tables.append(Table(caption, ["Tree", *METRICS], list(grid.index), grid.to_numpy().tolist(), shown))
    return tables


def write_cell(record: Any) -> Cell:
    """A percentage; of both kinds of F1 the spread over the draws, too."""
    cell = score_cell(record, ".1f")
    return Cell(cell.text, cell.detail if record.metric.endswith("F1") else "")
