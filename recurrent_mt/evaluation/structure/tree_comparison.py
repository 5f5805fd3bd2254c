"""A model's trees beside the baselines, scored against gold trees: as a table and as JSON."""

from __future__ import annotations

import html
import json
import random
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, stdev

import numpy as np

from ..table import text_table
from .baselines import balanced, left_branching, random_tree, right_branching
from .bracketing_score import BracketingScore, best_possible, score_brackets
from .most_probable_tree import most_probable_tree
from .penn_trees import GoldTree
from .pyramid import Pyramid
from .spans import Spans, keep_leaves

BASELINES = {"left-branching": left_branching, "right-branching": right_branching, "balanced": balanced}
#: Of everything that is random.
DRAWS = 5
QUOTES = {"``", "''"}

HEADER = ("Tree", "precision", "recall", "F1", "mean F1 of sentences")


@dataclass(frozen=True)
class Row:
    """One kind of tree.

    Attributes:
        name: as printed.
        score: of a kind with chance in it, the mean over the draws.
        spread: the standard deviation of F1 over them, else None.
    """

    name: str
    score: BracketingScore
    spread: float | None = None


@dataclass(frozen=True)
class TreeComparison:
    """All kinds of trees, with and without punctuation; `sentences` counts those that were read."""

    sentences: int
    seed: int
    all_tokens: list[Row]
    without_punctuation: list[Row]


def compare_trees(
    pyramids: Sequence[Pyramid], gold: Sequence[GoldTree], *, segmentation: str | None = None, seed: int = 1
) -> TreeComparison:
    """Scores the trees that the gates imply, the same with shuffled gates, and the baselines.

    Without punctuation, the marks are taken out of both trees before scoring, and the baselines are trees over the
    words that are left.

    Args:
        pyramids: of gates.
        gold: as many trees over the same words.
        segmentation: of the pyramids' leaves, see :func:`.most_probable_tree.most_probable_tree`.
        seed: of the random trees and of the shuffling.

    Raises:
        ValueError: if the trees are not those of the sentences, naming the first that is not.
    """
    if len(pyramids) != len(gold):
        raise ValueError(f"{len(pyramids)} sentences, but {len(gold)} gold trees")
    for number, (pyramid, tree) in enumerate(zip(pyramids, gold)):
        check_words(number, pyramid, tree, segmentation)
    found = [most_probable_tree(pyramid, segmentation=segmentation) for pyramid in pyramids]
    generator = np.random.default_rng(seed)
    shuffled = [
        [most_probable_tree(pyramid.shuffled(generator), segmentation=segmentation) for pyramid in pyramids]
        for _ in range(DRAWS)
    ]
    everything = [[True] * len(tree.words) for tree in gold]
    words_alone = [[not is_punctuation(word) for word in tree.words] for tree in gold]
    return TreeComparison(
        len(gold), seed, *(_rows(found, shuffled, gold, kept, seed) for kept in (everything, words_alone))
    )


def check_words(number: int, pyramid: Pyramid, tree: GoldTree, segmentation: str | None) -> None:
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


def _rows(
    found: Sequence[Spans],
    shuffled: Sequence[Sequence[Spans]],
    gold: Sequence[GoldTree],
    kept: Sequence[Sequence[bool]],
    seed: int,
) -> list[Row]:
    lengths = [sum(leaves) for leaves in kept]
    expected = [keep_leaves(tree.spans, leaves) for tree, leaves in zip(gold, kept)]

    def scored(trees: Iterable[Spans]) -> BracketingScore:
        return score_brackets(list(trees), expected, lengths)

    def scored_leaves(trees: Iterable[Spans]) -> BracketingScore:
        return scored(keep_leaves(tree, leaves) for tree, leaves in zip(trees, kept))

    generator = random.Random(seed)
    return [
        Row("grConv", scored_leaves(found)),
        mean_row("grConv, gates shuffled", [scored_leaves(draw) for draw in shuffled]),
        *(Row(name, scored(map(tree, lengths))) for name, tree in BASELINES.items()),
        mean_row("random", [scored(random_tree(length, generator) for length in lengths) for _ in range(DRAWS)]),
        Row("best possible of a binary tree", best_possible(expected, lengths)),
    ]


def mean_row(name: str, draws: Sequence[BracketingScore]) -> Row:
    """The mean of several draws."""
    fields = ("precision", "recall", "f1", "sentence_f1")
    average = {field: mean(getattr(draw, field) for draw in draws) for field in fields}
    return Row(name, BracketingScore(**average, sentences=draws[0].sentences), stdev(draw.f1 for draw in draws))


def as_text(comparison: TreeComparison) -> str:
    """The tables for a terminal."""
    lines = []
    for title, rows in (("All tokens", comparison.all_tokens), ("Words", comparison.without_punctuation)):
        counted = rows[0].score.sentences
        lines.append(f"{title}: {comparison.sentences} sentences, {counted} of them with a phrase to find")
        lines += [*text_table([HEADER, *(_cells(row) for row in rows)]), ""]
    lines += [
        "Unlabelled bracketing in percent, over all sentences together; phrases of one word and whole sentences",
        "are not counted. Words: punctuation taken out. grConv: the most probable tree by the model's gates. Gates",
        "shuffled: the same after shuffling them within each level; the difference is what their places tell about",
        f"phrases. ±: mean and standard deviation of {DRAWS} draws.",
        "",
    ]
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    f1 = f"{row.score.f1:.1f}" + (f" ±{row.spread:.1f}" if row.spread is not None else "")
    return row.name, f"{row.score.precision:.1f}", f"{row.score.recall:.1f}", f1, f"{row.score.sentence_f1:.1f}"


def as_json(comparison: TreeComparison) -> str:
    """Everything, unrounded."""
    return json.dumps(asdict(comparison), indent=2, ensure_ascii=False) + "\n"
