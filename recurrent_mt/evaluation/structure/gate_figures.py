"""The gates of a sentence as a figure: a pyramid with the tree that it implies, or the windows of a dilated grConv.

The pyramid is drawn as in Cho et al. (2014b), figure 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..figures import set_style
from .gates import GatedSentence, Join, Node, PyramidGates, WindowGates, list_joins
from .trees import Span, children_of, find_most_probable_tree

#: Inches of a level of a pyramid, and of windows, whose lines are the flatter the higher it is.
PYRAMID_LEVEL, WINDOW_LEVEL = 0.34, 0.85
#: How far the lines of merging stand beside those of passing on, in leaves of a pyramid; of windows, in inches.
OFFSET, GAP = 0.07, 0.045
#: Points: of lines on the way to the summary, and of the others.
WIDE, NARROW = 2.2, 0.9
#: From a gate of 0 to a gate of 1. Both ends can be told from white paper and, in gray print, by their line's style.
PASSED = LinearSegmentedColormap.from_list("passed", ["#dcdcdc", "#000000"])
MERGED = LinearSegmentedColormap.from_list("merged", ["#ffd9b8", "#c43c00"])

#: Gates above it are drawn.
THRESHOLD = 0.1
#: Places of a node's gates.
NEW, LEFT, RIGHT = 0, 1, 2
#: Inches: of a character, between leaves at least.
CHARACTER, NARROWEST = 0.1, 0.5


def draw_sentence(gates: PyramidGates | WindowGates) -> Figure:
    """A pyramid with the tree that it implies, or the windows that a dilated grConv joins.

    Raises:
        ValueError: if the sentence has no leaves.
    """
    if isinstance(gates, WindowGates):
        return draw_windows(gates)
    return draw_pyramid(gates, find_most_probable_tree(gates))


@set_style()
def draw_pyramid(pyramid: PyramidGates, tree: Iterable[Span]) -> Figure:
    """Draws the edges of a pyramid that reach its root over gates above `THRESHOLD`, the darker the greater the gate.

    Each node stands above the middle of the leaves that it covers. A black line to a child is the gate that passes this
    child on; a pair of orange lines is the gate that merges both into a new node. The tree over the words is drawn
    upside down below them.

    Raises:
        ValueError: if the sentence has no leaves.
    """
    columns = plan_columns(pyramid)
    leaves = len(pyramid.leaves)
    below = PYRAMID_LEVEL * (height_of(tree, len(pyramid.words)) + 1)
    heights = [max(PYRAMID_LEVEL * leaves, 1.6), columns.height + 0.1, below]
    figure = Figure(figsize=(max(columns.spacing * leaves + 2.4, 6.0), sum(heights) + 0.9), layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=heights)
    top = figure.add_subplot(grid[0])
    _draw_edges(top, pyramid.gates)
    draw_words(figure.add_subplot(grid[1], sharex=top), pyramid.leaves, columns)
    _draw_tree(figure.add_subplot(grid[2], sharex=top), set(tree), len(pyramid.words))
    top.set_xlim(-0.6, leaves - 0.4)
    add_scales(figure, top)
    top.set_title(f"Gates above {THRESHOLD:g} on the way to the root", fontsize=10, loc="left")
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


def _draw_edges(axes: Axes, gates: np.ndarray) -> None:
    edges = visible_edges(gates, THRESHOLD)
    nodes = sorted({(leaf, leaf) for leaf in range(len(gates))} | {edge[:2] for edge in edges})
    passed, merged = [], []
    for first, last, gate, value in edges:
        for side, child, inward in ((LEFT, (first, last - 1), OFFSET), (RIGHT, (first + 1, last), -OFFSET)):
            ends = np.array([_place_phrase(first, last), _place_phrase(*child)])
            if gate == side:
                passed.append(Line(ends, value))
            elif gate == NEW:
                # Inside the triangle that a node makes with its children.
                merged.append(Line(ends + np.array([inward, 0]), value))
    draw_lines(axes, passed, merged, (_place_phrase(*node) for node in nodes))
    axes.set_ylim(-0.4, len(gates) - 0.6)
    axes.set_ylabel("level of the pyramid")
    axes.yaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))


def _place_phrase(first: int, last: int) -> tuple[float, float]:
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


@set_style()
def draw_windows(windows: WindowGates) -> Figure:
    """Draws the gates above `THRESHOLD` of both directions, the darker the greater the gate.

    Above the words, each node stands over the word at which its window ends; below them, under the word at which its
    window begins. A black line to a child is the gate that passes this child's window on; a pair of orange lines is the
    gate that merges both into a new node. Wide lines lead to the two nodes of the summary, which have merged the whole
    sentence if ``--grconv-height`` is no lower, over gates above it; what only attention may read has narrow
    ones.

    Raises:
        ValueError: if the sentence has no leaves.
    """
    columns = plan_columns(windows)
    leaves, levels = len(windows.leaves), len(windows.forward)
    side = WINDOW_LEVEL * levels + 0.45
    heights = [side, columns.height + 0.1, side]
    figure = Figure(figsize=(max(columns.spacing * leaves + 2.4, 6.0), sum(heights) + 0.9), layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=heights)
    above = figure.add_subplot(grid[0])
    words, below = (figure.add_subplot(grid[row], sharex=above) for row in (1, 2))
    draw_words(words, windows.leaves, columns)
    for axes, gates, backward in ((above, windows.forward, False), (below, windows.backward, True)):
        joins = list_joins(leaves, levels, backward=backward)
        root = joins[-1][0 if backward else -1] if joins else None
        _draw_direction(axes, root, joins, gates, columns.spacing)
        # A quarter of a level between the nodes at either end and the edge.
        axes.set_ylim((levels + 0.25, -0.25) if backward else (-0.25, levels + 0.25))
        axes.set_yticks(range(levels + 1))
        axes.set_ylabel("level")
    # In two lines, which even the narrowest figure has room for.
    title = f"Forward: windows that end at a word\nGates above {THRESHOLD:g}; wide: on the way to the summary"
    above.set_xlim(-0.6, leaves - 0.4)
    above.set_title(title, fontsize=10, loc="left")
    below.set_title("Backward: windows that begin at a word", fontsize=10, loc="left", y=-0.02, va="top")
    add_scales(figure, above)
    return figure


def find_reached(
    root: Join, joins: Sequence[Sequence[Join]], gates: Sequence[np.ndarray], threshold: float
) -> set[Node]:
    """The nodes and leaves that a root reaches over gates above the threshold, the root included."""
    values = {(join.level, join.word): (join, gate) for one, two in zip(joins, gates) for join, gate in zip(one, two)}
    waiting: list[Node] = [(root.level, root.word)]
    reached: set[Node] = set()
    while waiting:
        node = waiting.pop()
        reached.add(node)
        if node in values:
            join, gate = values[node]
            waiting += [child for side, child in join.children() if max(gate[NEW], gate[side]) > threshold]
    return reached


def _draw_direction(
    axes: Axes,
    root: Join | None,
    joins: list[list[Join]],
    gates: Sequence[np.ndarray],
    spacing: float,
) -> None:
    reached = find_reached(root, joins, gates, THRESHOLD) if root else set()
    passed, merged = [], []
    nodes = {(0, word) for word in range(len(joins[0]) + 1 if joins else 1)}
    for level, values in zip(joins, gates):
        for join, gate in zip(level, values):
            node = (join.level, join.word)
            nodes.add(node)
            width = WIDE if node in reached else NARROW
            for side, child in join.children():
                other = join.left if side == RIGHT else join.right
                ends = np.array([_place_window(node), _place_window(child)])
                if gate[side] > THRESHOLD:
                    passed.append(Line(ends, float(gate[side]), width))
                if gate[NEW] > THRESHOLD:
                    merged.append(Line(ends + _inward(ends, _place_window(other), spacing), float(gate[NEW]), width))
    draw_lines(axes, passed, merged, map(_place_window, sorted(nodes)))


def _place_window(node: Node) -> tuple[float, float]:
    level, word = node
    return word, level


def _inward(ends: np.ndarray, other: tuple[float, float], spacing: float) -> np.ndarray:
    """How far to move a line to have it beside itself, inside the triangle that a node makes with its children."""
    inches = np.array([spacing, WINDOW_LEVEL])
    (x, y), toward = (ends[1] - ends[0]) * inches, (np.array(other) - ends[0]) * inches
    normal = np.array([-y, x]) / np.hypot(x, y)
    return GAP * (normal if normal @ toward > 0 else -normal) / inches


class Line(NamedTuple):
    """From a node to a child, (2, 2) as rows of (x, y); its gate; how wide it is drawn, in points."""

    ends: np.ndarray
    value: float
    width: float = 1.8


class Columns(NamedTuple):
    """How words stand side by side: inches between them, inches of their height, whether they are upright."""

    spacing: float
    height: float
    upright: bool


def plan_columns(sentence: GatedSentence) -> Columns:
    """Makes room for the longest word.

    Raises:
        ValueError: if the sentence has no leaves.
    """
    if not sentence.leaves:
        raise ValueError(f"sentence {sentence.number} has no leaves to draw")
    longest = max(map(len, sentence.leaves))
    spacing = min(max(NARROWEST, CHARACTER * longest + 0.12), 1.1)
    upright = CHARACTER * longest + 0.12 > spacing
    return Columns(spacing, CHARACTER * longest if upright else 0.25, upright)


def draw_words(axes: Axes, leaves: Sequence[str], columns: Columns) -> None:
    """The leaves, each at its number."""
    rotation = 90 if columns.upright else 0
    for position, leaf in enumerate(leaves):
        axes.text(position, 0.5, leaf, ha="center", va="center", rotation=rotation)
    axes.set_axis_off()


def draw_lines(axes: Axes, passed: list[Line], merged: list[Line], nodes: Iterable[tuple[float, float]]) -> None:
    """Lines of both kinds, the darkest last, above the others, and nodes on top of them."""
    for lines, colors, style in ((passed, PASSED, "solid"), (merged, MERGED, (0, (4, 1.2)))):
        ordered = sorted(lines, key=lambda line: line.value)
        collection = LineCollection(
            [line.ends for line in ordered],
            cmap=colors,
            norm=Normalize(0, 1),
            linestyle=style,
            linewidths=[line.width for line in ordered] or 1,
            zorder=1,
        )
        collection.set_array(np.array([line.value for line in ordered]))
        axes.add_collection(collection)
    places = np.array(list(nodes))
    axes.scatter(places[:, 0], places[:, 1], s=16, c="white", edgecolors="#444444", linewidths=0.8, zorder=2)
    axes.tick_params(axis="x", bottom=False, labelbottom=False)
    axes.spines[["top", "right", "bottom"]].set_visible(False)


def add_scales(figure: Figure, axes: Axes) -> None:
    """What the darkness of both kinds of lines means."""
    for colors, label in (
        (MERGED, "merges both\nchildren (new), dashed"),
        (PASSED, "passes one\nchild on (left, right)"),
    ):
        bar = figure.colorbar(ScalarMappable(Normalize(0, 1), colors), ax=axes, fraction=0.04, pad=0.02, aspect=18)
        bar.set_label(f"gate: {label}", fontsize=8)
        bar.ax.set_ylim(THRESHOLD, 1)
