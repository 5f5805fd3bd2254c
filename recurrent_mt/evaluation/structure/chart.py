"""The best binary tree over a chart of scores, by dynamic programming (CKY)."""

from __future__ import annotations

import numpy as np

from .spans import Spans


def best_tree(node: np.ndarray, left: np.ndarray | None = None, right: np.ndarray | None = None) -> Spans:
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
    return _spans(split, n)


def _spans(split: np.ndarray, n: int) -> Spans:
    spans, waiting = set(), [(0, n - 1)]
    while waiting:
        first, last = waiting.pop()
        if last > first:
            spans.add((first, last + 1))
            middle = int(split[first, last])
            waiting += [(first, middle), (middle + 1, last)]
    return frozenset(spans)


def whole_words_only(node: np.ndarray, numbers: list[int]) -> np.ndarray:
    """A copy of the scores that forbids phrases cutting a word.

    Args:
        node: (n, n) scores of phrases, as :func:`best_tree` takes them.
        numbers: for each leaf the number of its word.
    """
    word = np.array(numbers, dtype=int)
    begins = np.diff(word, prepend=-1) > 0
    ends = np.append(begins[1:], True)[: len(word)]
    whole = (word[:, None] == word[None, :]) | (begins[:, None] & ends[None, :])
    return np.where(whole, node, -np.inf)
