"""Pyramids and windows made to order."""

from __future__ import annotations

import numpy as np

from recurrent_mt.evaluation.structure.gates import PyramidGates, WindowGates

NEW, LEFT, RIGHT = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]


def pyramid_of(tree, leaves, *, other=RIGHT):
    """Gates of 0 and 1 that make exactly one binary tree.

    Args:
        tree: nested pairs of leaf numbers, such as ``((0, 1), 2)``.
        leaves: tokens.
        other: the gates of the nodes that the tree does not use.
    """
    n = len(leaves)
    levels = [[other] * (n - height) for height in range(1, n)]

    def mark(node):
        if isinstance(node, int):
            return node, node
        (first, middle), (_, last) = mark(node[0]), mark(node[1])
        for end in range(middle + 1, last):
            levels[end - first - 1][first] = LEFT
        for start in range(first + 1, middle + 1):
            levels[last - start - 1][start] = RIGHT
        levels[last - first - 1][first] = NEW
        return first, last

    if n > 1:
        assert mark(tree) == (0, n - 1)
    return PyramidGates.from_levels(0, leaves, levels)


def random_pyramid(leaves, seed):
    """Gates drawn from all distributions alike."""
    generator = np.random.default_rng(seed)
    n = len(leaves)
    return PyramidGates.from_levels(0, leaves, [generator.dirichlet([1, 1, 1], n - height) for height in range(1, n)])


def random_windows(leaves, seed):
    """Gates drawn from all distributions alike."""
    generator = np.random.default_rng(seed)
    n = len(leaves)
    counts = [n - 2**height for height in range(max(n - 1, 0).bit_length())]
    draw = [[generator.dirichlet([1, 1, 1], count) for count in counts] for _ in range(2)]
    return WindowGates.from_levels(0, leaves, draw)


def spans_of(tree):
    """The spans of nested pairs of leaf numbers."""
    found = set()

    def walk(node):
        if isinstance(node, int):
            return node, node + 1
        ends = [walk(child) for child in node]
        found.add((ends[0][0], ends[-1][1]))
        return ends[0][0], ends[-1][1]

    walk(tree)
    return frozenset(found)


def all_trees(first, last):
    """Every binary tree over the leaves first to last, as nested pairs."""
    if first == last:
        return [first]
    return [
        (left, right)
        for middle in range(first, last)
        for left in all_trees(first, middle)
        for right in all_trees(middle + 1, last)
    ]
