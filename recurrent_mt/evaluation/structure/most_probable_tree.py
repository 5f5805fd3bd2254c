"""The binary tree that a pyramid of gates implies: the most probable one.

Let every node choose once, by its gates taken as probabilities and independently of the others: to merge its children
(new), or to pass on its left or its right child as it is. Start at the root and go down to what is used. A node over
the leaves i to k that merges has children over i to k − 1 and i + 1 to k, which overlap; each may pass on a child of
its own, and so drop a leaf at its outer end, until it reaches a node that merges or a leaf. Where for every merging
node the two nodes so reached lie side by side, over i to m and m + 1 to k, each word is used exactly once, and the
merging nodes are the phrases of a binary tree over the sentence, each made by the node over just its words. Every
binary tree comes about in this way, by one choice of the nodes that it uses. The probability of that is

    P(tree) = Π over its phrases [i, k], split after m, of
              new[i, k] · Π_{e = m+1 … k−1} left[i, e] · Π_{s = i+1 … m} right[s, k]

Other choices use words twice or not at all, or make a phrase by a node over more words than its own, whose children
have dropped the rest; they are not counted. The tree here is the one with the greatest P. It is found exactly, by
`find_best_tree` (CKY), with the products as differences of running sums of logarithms. ``</s>`` is a leaf like the
others, taken out of the tree at the end.

Two cautions. In a trained model most nodes pass a child on, and P(tree) is then small for every tree: the tree says how
the model would bracket if it bracketed, not that it does. And a phrase of w words uses w − 1 nodes, so that a tree
branching one way uses n(n − 1)/2 of them and a balanced one about n log₂ n, each a choice that must come out right:
gates without any preference imply a balanced tree. :mod:`.tree_scores` therefore scores the trees of shuffled gates
as well.
"""

from __future__ import annotations

import numpy as np

from ...subwords import word_numbers
from .gates import PyramidGates
from .trees import Spans, keep_leaves, merge_leaves, split_everywhere

#: Gates are kept with five decimals; one rounded to zero counts as half a unit of the fifth, so that no tree is ruled
#: out.
SMALLEST_GATE = 5e-6


def find_most_probable_tree(pyramid: PyramidGates, *, segmentation: str | None = None) -> Spans:
    """The most probable binary tree over the words of the sentence, see above.

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
    numbers = word_numbers(pyramid.leaves, segmentation)
    tree = find_best_tree(forbid_cut_words(node, numbers), -passed_left, -passed_right)
    kept = [True] * len(pyramid.leaves)
    if pyramid.has_end:
        kept[-1] = False
    return merge_leaves(keep_leaves(tree, kept), numbers)


def find_best_tree(node: np.ndarray, left: np.ndarray | None = None, right: np.ndarray | None = None) -> Spans:
    """The binary tree whose phrases have the greatest sum of scores.

    A phrase over the leaves i to k, split after m, adds ``node[i, k] + left[i, m] + right[m + 1, k]``. Of splits that
    are equally good the leftmost is taken. Time O(n³).

    Args:
        node: (n, n), read above the diagonal; −inf forbids a phrase.
        left: (n, n), read on and above the diagonal; zeros where None.
        right: likewise.

    Returns:
        The n − 1 spans of the tree; none for fewer than two leaves.

    Raises:
        ValueError: if the forbidden phrases leave no tree.
    """
    n = len(node)
    left = np.zeros((n, n)) if left is None else left
    right = np.zeros((n, n)) if right is None else right
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
    if n > 1 and not as_left[0, n - 1] > -np.inf:
        raise ValueError(f"no binary tree over {n} leaves is allowed")
    return split_everywhere(n, lambda first, end: int(split[first, end - 1]) + 1)


def forbid_cut_words(node: np.ndarray, numbers: list[int]) -> np.ndarray:
    """A copy of the (n, n) scores of phrases that forbids those cutting a word; ``numbers`` has each leaf's word."""
    word = np.array(numbers, dtype=int)
    begins = np.diff(word, prepend=-1) > 0
    ends = np.append(begins[1:], True)[: len(word)]
    whole = (word[:, None] == word[None, :]) | (begins[:, None] & ends[None, :])
    return np.where(whole, node, -np.inf)
