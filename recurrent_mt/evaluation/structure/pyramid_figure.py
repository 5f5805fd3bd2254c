"""The pyramid of a sentence's gates as a figure, as in Cho et al. (2014b), figure 6, with the tree that it implies."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .gate_figure import LEFT, NEW, RIGHT, Line, add_scales, draw_lines, draw_words, plan_columns
from .gates import PyramidGates
from .trees import Span, children_of

#: How far the lines of merging stand beside those of passing on, in leaves.
OFFSET = 0.07
#: Inches of a level.
LEVEL = 0.34


def draw_pyramid(pyramid: PyramidGates, *, threshold: float = 0.1, tree: Iterable[Span] | None = None) -> Figure:
    """Draws the edges of a pyramid that reach its root over gates above a threshold, the darker the greater the gate.

    Each node stands above the middle of the leaves that it covers. A black line to a child is the gate that passes this
    child on; a pair of orange lines is the gate that merges both into a new node. A tree over the words is drawn upside
    down below them.

    Raises:
        ValueError: if the sentence has no leaves or the threshold is no probability below 1.
    """
    columns = plan_columns(pyramid, threshold)
    leaves = len(pyramid.leaves)
    heights = [max(LEVEL * leaves, 1.6), columns.height + 0.1]
    if tree is not None:
        heights.append(LEVEL * (height_of(tree, len(pyramid.words)) + 1))
    figure = Figure(figsize=(max(columns.spacing * leaves + 2.4, 6.0), sum(heights) + 0.9), layout="constrained")
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    top = figure.add_subplot(grid[0])
    _draw_edges(top, pyramid.gates, threshold)
    draw_words(figure.add_subplot(grid[1], sharex=top), pyramid.leaves, columns)
    if tree is not None:
        _draw_tree(figure.add_subplot(grid[2], sharex=top), set(tree), len(pyramid.words))
    top.set_xlim(-0.6, leaves - 0.4)
    add_scales(figure, top, threshold)
    top.set_title(f"Gates above {threshold:g} on the way to the root", fontsize=10, loc="left")
    return figure


def visible_edges(gates: np.ndarray, threshold: float) -> list[tuple[int, int, int, float]]:
    """The edges of all nodes that the root reaches over gates (n, n, 3) above the threshold.

    Returns:
        (first leaf, last leaf, gate: 0 new, 1 left, 2 right, its value) of each edge; of a node's new, one for both
        children.
    """
    waiting, reached, edges = [(0, len(gates) - 1)], set(), []
    while waiting:
        first, last = waiting.pop()
        if first == last or (first, last) in reached:
            continue
        reached.add((first, last))
        for gate, children in (
            (NEW, [(first, last - 1), (first + 1, last)]),
            (LEFT, [(first, last - 1)]),
            (RIGHT, [(first + 1, last)]),
        ):
            value = float(gates[first, last, gate])
            if value > threshold:
                edges.append((first, last, gate, value))
                waiting += children
    return sorted(edges)


def _draw_edges(axes: Axes, gates: np.ndarray, threshold: float) -> None:
    edges = visible_edges(gates, threshold)
    nodes = sorted({(leaf, leaf) for leaf in range(len(gates))} | {edge[:2] for edge in edges})
    passed, merged = [], []
    for first, last, gate, value in edges:
        for side, child, inward in ((LEFT, (first, last - 1), OFFSET), (RIGHT, (first + 1, last), -OFFSET)):
            ends = np.array([_place(first, last), _place(*child)])
            if gate == side:
                passed.append(Line(ends, value))
            elif gate == NEW:
                # Inside the triangle that a node makes with its children.
                merged.append(Line(ends + np.array([inward, 0]), value))
    draw_lines(axes, passed, merged, (_place(*node) for node in nodes))
    axes.set_ylim(-0.4, len(gates) - 0.6)
    axes.set_ylabel("level of the pyramid")
    axes.yaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))


def _place(first: int, last: int) -> tuple[float, float]:
    return (first + last) / 2, last - first


def height_of(tree: Iterable[Span], words: int) -> int:
    """How many phrases a tree has one in another, at most."""
    return max((depth for _, depth in _depths(set(tree), words).values()), default=0)


def _depths(tree: set[Span], words: int) -> dict[Span, tuple[float, int]]:
    """Where each phrase and word is drawn: the middle of its children, and how many phrases are in one another."""
    places: dict[Span, tuple[float, int]] = {(word, word + 1): (float(word), 0) for word in range(words)}
    for span in sorted(tree, key=lambda span: span[1] - span[0]):
        children = [places[child] for child in children_of(span, tree)]
        places[span] = (children[0][0] + children[-1][0]) / 2, 1 + max(depth for _, depth in children)
    return places


def _draw_tree(axes: Axes, tree: set[Span], words: int) -> None:
    places = _depths(tree, words)
    for span in tree:
        x, depth = places[span]
        for child in children_of(span, tree):
            child_x, child_depth = places[child]
            axes.plot([x, child_x, child_x], [depth, depth, child_depth], color="#1f5fa8", linewidth=1.5)
    deepest = max(depth for _, depth in places.values()) if places else 0
    axes.set_ylim(deepest + 0.4, 0)
    axes.set_ylabel("implied\ntree")
    axes.set_yticks([])
    axes.tick_params(axis="x", bottom=False, labelbottom=False)
    axes.spines[:].set_visible(False)
