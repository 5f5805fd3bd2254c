"""Trees as sets of spans, without labels: read from Penn brackets, made as baselines, implied by gates, scored.

A span is (first leaf, leaf after the last one), counted from 0, as in a slice. A tree is the set of the spans of its
phrases of at least two leaves, the whole sentence included; a binary tree over n leaves has n − 1 of them.
"""

from __future__ import annotations

import html
import random
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from os import PathLike
from statistics import mean, stdev
from typing import Any

import numpy as np
import pandas

from ...subwords import word_numbers
from ...text_files import FileError, read_lines
from ..tables import Cell, Record, Table, make_frame, pivot_cells, score_cell, select
from .gates import PyramidGates

Span = tuple[int, int]
Spans = frozenset[Span]

ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
#: The label of traces, which are no words.
TRACE = "-NONE-"
#: Gates are kept with five decimals; one rounded to zero counts as half a unit of the fifth, so that no tree is ruled
#: out.
SMALLEST_GATE = 5e-6


@dataclass(frozen=True)
class GoldTree:
    """A tree without labels and traces; brackets among its words are unescaped (``-LRB-`` is ``(``)."""

    words: tuple[str, ...]
    spans: Spans


def read_penn_trees(path: str | PathLike[str]) -> list[GoldTree]:
    """Reads a file of trees, one a line.

    Raises:
        FileError: naming the line that is not one whole tree.
    """
    trees = []
    for line, text in read_lines(path):
        try:
            trees.append(parse_penn_tree(text))
        except ValueError as error:
            raise FileError(path, str(error), line=line) from error
    return trees


def parse_penn_tree(text: str) -> GoldTree:
    """Reads ``(S (NP (DT the) (NN dog)) (VP (VBZ barks)))``; labels may be missing, as in ``( (S …))``.

    Raises:
        ValueError: if the brackets do not pair, there is more or less than one tree, or a bracket holds neither a word
            under its label nor phrases under one.
    """
    # nltk takes a second to import, and most callers read no file of trees.
    from nltk.tree import Tree

    try:
        tree = Tree.fromstring(text)
    except ValueError as error:
        raise ValueError(f"not one tree in brackets: {' '.join(str(error).split())}") from error
    words: list[str] = []
    spans = set()
    # A phrase comes back, with the number of the words before it, when its children are done.
    waiting: list[tuple[Tree, int | None]] = [(tree, None)]
    while waiting:
        node, first = waiting.pop()
        if first is not None:
            if len(words) - first > 1:
                spans.add((first, len(words)))
        elif all(isinstance(child, Tree) for child in node) and len(node):
            waiting.append((node, len(words)))
            waiting += [(child, None) for child in reversed(node)]
        elif len(node) != 1 or not node.label():
            own = " ".join([node.label(), *("(…)" if isinstance(child, Tree) else child for child in node)])
            raise ValueError(f"expected a label and a word, or a label and phrases, in a bracket, but found {own!r}")
        elif node.label() != TRACE:
            words.append(ESCAPES.get(node[0], node[0]))
    return GoldTree(tuple(words), frozenset(spans))


def keep_leaves(spans: Iterable[Span], kept: Sequence[bool]) -> Spans:
    """The tree without the leaves that are not kept, renumbered.

    Phrases that become equal are one, and those of one leaf go. Where the first piece of each word is kept, it is the
    tree over words of a tree over their pieces.
    """
    before = list(accumulate(kept, initial=0))
    shorter = ((before[first], before[end]) for first, end in spans)
    return frozenset((first, end) for first, end in shorter if end - first > 1)


def write_brackets(words: Sequence[str], spans: Iterable[Span]) -> str:
    """The tree in round brackets, words between them: ``((the dog) barks)``. Those of words are -LRB- and -RRB-."""
    words = [word.replace("(", "-LRB-").replace(")", "-RRB-") for word in words]
    opening, closing = [0] * len(words), [0] * len(words)
    for first, end in spans:
        opening[first] += 1
        closing[end - 1] += 1
    return " ".join("(" * begin + word + ")" * stop for begin, word, stop in zip(opening, words, closing, strict=True))


#: Says where a phrase is split: the first leaf, and that after the last one -> the first leaf of its right half.
Split = Callable[[int, int], int]


def split_everywhere(leaves: int, split: Split) -> Spans:
    """A binary tree whose phrases are each split where ``split`` says."""
    spans, waiting = set(), [(0, leaves)]
    while waiting:
        first, end = waiting.pop()
        if end - first > 1:
            spans.add((first, end))
            middle = split(first, end)
            waiting += [(first, middle), (middle, end)]
    return frozenset(spans)


def random_tree(leaves: int, generator: random.Random) -> Spans:
    """Every phrase split at one of its places, all equally probable."""
    return split_everywhere(leaves, lambda first, end: generator.randrange(first + 1, end))


@dataclass(frozen=True)
class BracketingScore:
    """Precision, recall and F1 in percent.

    Phrases of one word and the whole sentence are never counted: no tree can miss them. A gold phrase with another
    inside it over the same words counts once.

    The F1 of sentences is that of compare_trees.py in compound-pcfg (Kim et al. 2019, "Compound Probabilistic
    Context-Free Grammars for Grammar Induction"), which goes back to PRPN (Shen et al. 2018): a sentence whose gold
    tree has no phrase but the whole counts 0. That program also counts sentences of two words, at 100 whatever the
    tree; here they are left out, since they say nothing.
    """

    precision: float  # right phrases among those proposed, over all sentences together
    recall: float  # right phrases among those of the gold trees, likewise
    f1: float  # of the two
    sentence_f1: float  # the mean of each sentence's own F1, over the sentences of three words or more
    sentences: int  # how many those are


def score_brackets(trees: Iterable[Spans], gold: Sequence[Spans], lengths: Sequence[int]) -> BracketingScore:
    """Scores a tree of each sentence against its gold tree; ``lengths`` are the sentences' in words."""
    right = proposed = wanted = 0
    of_sentences = []
    for tree, gold_tree, length in zip(trees, gold, lengths, strict=True):
        found, expected = tree - {(0, length)}, gold_tree - {(0, length)}
        both = len(found & expected)
        right, proposed, wanted = right + both, proposed + len(found), wanted + len(expected)
        if length > 2:
            of_sentences.append(percent_or_zero(2 * both, len(found) + len(expected)))
    return BracketingScore(
        precision=percent_or_zero(right, proposed),
        recall=percent_or_zero(right, wanted),
        f1=percent_or_zero(2 * right, proposed + wanted),
        sentence_f1=sum(of_sentences) / len(of_sentences) if of_sentences else 0.0,
        sentences=len(of_sentences),
    )


def children_of(span: Span, tree: Iterable[Span]) -> list[Span]:
    """The largest phrases and words inside a phrase, from left to right."""
    children, position = [], span[0]
    while position < span[1]:
        ends = [end for first, end in tree if first == position and end <= span[1] and (first, end) != span]
        end = max(ends, default=position + 1)
        children.append((position, end))
        position = end
    return children


def percent_or_zero(part: float, whole: float) -> float:
    """100 · part / whole, and 0 of nothing."""
    return 100 * part / whole if whole else 0.0


def find_most_probable_tree(pyramid: PyramidGates, *, segmentation: str | None = None) -> Spans:
    """The binary tree that a pyramid of gates implies: the most probable one.

    Let every node choose once, by its gates taken as probabilities and independently of the others: to merge its
    children (new), or to pass on its left or its right child as it is. Start at the root and go down to what is used. A
    node over the leaves i to k that merges has children over i to k − 1 and i + 1 to k, which overlap; each may pass on
    a child of its own, and so drop a leaf at its outer end, until it reaches a node that merges or a leaf. Where for
    every merging node the two nodes so reached lie side by side, over i to m and m + 1 to k, each word is used exactly
    once, and the merging nodes are the phrases of a binary tree over the sentence, each made by the node over just its
    words. Every binary tree comes about in this way, by one choice of the nodes that it uses. The probability of that
    is

        P(tree) = Π over its phrases [i, k], split after m, of
                  new[i, k] · Π_{e = m+1 … k−1} left[i, e] · Π_{s = i+1 … m} right[s, k]

    Other choices use words twice or not at all, or make a phrase by a node over more words than its own, whose children
    have dropped the rest; they are not counted. The tree here is the one with the greatest P. It is found exactly, by
    `find_best_tree` (CKY), with the products as differences of running sums of logarithms. ``</s>`` is a leaf like the
    others, taken out of the tree at the end.

    Two cautions. In a trained model most nodes pass a child on, and P(tree) is then small for every tree: the tree says
    how the model would bracket if it bracketed, not that it does. And a phrase of w words uses w − 1 nodes, so that a
    tree branching one way uses n(n − 1)/2 of them and a balanced one about n log₂ n, each a choice that must come out
    right: gates without any preference imply a balanced tree. `tree_scores` therefore scores the trees of shuffled
    gates as well.

    Args:
        pyramid: of gates.
        segmentation: ``bpe`` or ``sentencepiece`` for a tree over words where the leaves are pieces of words; the
            pieces of a word then form a phrase, and that phrase is the leaf.
    """
    new, left, right = np.log(np.maximum(pyramid.gates, SMALLEST_GATE)).transpose(2, 0, 1)
    # passed_left[i, m] = Σ_{e = i+1 … m} log left[i, e], passed_right[m, k] = Σ_{s = m … k−1} log right[s, k]
    passed_left = np.triu(left, k=1).cumsum(axis=1)
    passed_right = np.triu(right, k=1)[::-1].cumsum(axis=0)[::-1]
    node = new.copy()
    node[:-1, 1:] += passed_left[:-1, :-1] + passed_right[1:, 1:]
    word = np.array(word_numbers(pyramid.leaves, segmentation), dtype=int)
    begins = np.diff(word, prepend=-1) > 0
    ends = np.append(begins[1:], True)[: len(word)]
    # No phrase cuts a word: each is within one, or of whole ones.
    allowed = (word[:, None] == word[None, :]) | (begins[:, None] & ends[None, :])
    tree = find_best_tree(np.where(allowed, node, -np.inf), -passed_left, -passed_right)
    kept = begins & (np.arange(len(word)) < len(pyramid.words))
    return keep_leaves(tree, kept.tolist())


def find_best_tree(node: np.ndarray, left: np.ndarray, right: np.ndarray) -> Spans:
    """The binary tree whose phrases have the greatest sum of scores.

    A phrase over the leaves i to k, split after m, adds ``node[i, k] + left[i, m] + right[m + 1, k]``. Of splits that
    are equally good the leftmost is taken. Time O(n³).

    Args:
        node: (n, n), read above the diagonal; −inf forbids a phrase.
        left: (n, n), read on and above the diagonal.
        right: likewise.

    Returns:
        The n − 1 spans of the tree; none for fewer than two leaves.
    """
    n = len(node)
    # as_left[i, m] and as_right[m, k]: the best tree over these leaves with its score as such a child.
    as_left, as_right = left.copy(), right.copy()
    split = np.zeros((n, n), dtype=int)
    for width in range(1, n):
        for first in range(n - width):
            last = first + width
            sums = as_left[first, first:last] + as_right[first + 1 : last + 1, last]
            best = int(np.argmax(sums))
            split[first, last] = first + best
            score = node[first, last] + sums[best]
            as_left[first, last] += score
            as_right[first, last] += score
    return split_everywhere(n, lambda first, end: int(split[first, end - 1]) + 1)


BASELINES: dict[str, Split] = {
    "left-branching": lambda first, end: end - 1,  # (((a b) c) d)
    "right-branching": lambda first, end: first + 1,  # (a (b (c d)))
    "balanced": lambda first, end: (first + end + 1) // 2,  # ((a b) (c d)); the left half may have one more
}
#: Of everything that is random.
DRAWS = 5
QUOTES = {"``", "''"}
ALL_TOKENS, WITHOUT_PUNCTUATION = "all tokens", "without punctuation"
#: Columns, with the fields of `BracketingScore`.
METRICS = {"precision": "precision", "recall": "recall", "F1": "f1", "sentence F1": "sentence_f1"}


def score_trees(
    pyramids: Sequence[PyramidGates], gold: Sequence[GoldTree], *, segmentation: str | None = None, seed: int = 1
) -> pandas.DataFrame:
    """Scores the trees that the gates imply, those of the gates shuffled, and the baselines.

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
    generator = np.random.default_rng(seed)
    shuffled = [[pyramid.shuffled(generator) for pyramid in pyramids] for _ in range(DRAWS)]
    trees = [
        [find_most_probable_tree(one, segmentation=segmentation) for one in draw] for draw in (pyramids, *shuffled)
    ]
    found = {"grConv": trees[:1], "grConv, gates shuffled": trees[1:]}
    groups = {
        ALL_TOKENS: [[True] * len(tree.words) for tree in gold],
        WITHOUT_PUNCTUATION: [[not is_punctuation(word) for word in tree.words] for tree in gold],
    }
    records: list[Record] = []
    for by, kept in groups.items():
        for name, draws in score_kinds(found, gold, kept, seed):
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
    """Whether a token is nothing but punctuation (Unicode's category P) or a treebank's quotation mark.

    Moses' escapes stand for their characters, as in `check_words`.
    """
    return word in QUOTES or all(unicodedata.category(character)[0] == "P" for character in html.unescape(word))


def score_kinds(
    found: Mapping[str, Sequence[Sequence[Spans]]],
    gold: Sequence[GoldTree],
    kept: Sequence[Sequence[bool]],
    seed: int,
) -> Iterator[tuple[str, list[BracketingScore]]]:
    """Each kind of tree over the leaves that are kept, with the score of each draw: one where there is no chance.

    ``found`` has each draw's trees of what a model implies, over all leaves.
    """
    lengths = [sum(leaves) for leaves in kept]
    expected = [keep_leaves(tree.spans, leaves) for tree, leaves in zip(gold, kept)]
    score = partial(score_brackets, gold=expected, lengths=lengths)
    rng = random.Random(seed)
    for name, draws in found.items():
        yield name, [score(keep_leaves(tree, leaves) for tree, leaves in zip(draw, kept)) for draw in draws]
    for name, split in BASELINES.items():
        yield name, [score(split_everywhere(length, split) for length in lengths)]
    yield "random", [score(random_tree(length, rng) for length in lengths) for _ in range(DRAWS)]


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
        f"difference is what their positions say about phrases. ±: mean and standard deviation of {DRAWS} draws."
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
