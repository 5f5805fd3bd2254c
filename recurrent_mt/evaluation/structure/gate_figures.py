"""The gates of a sentence as a figure: a pyramid with the tree that it implies, or the windows of a dilated grConv.

The pyramid is drawn as in Cho et al. (2014b), figure 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import copysign
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..figures import set_style
from .gates import NEW, GatedSentence, Join, Node, PyramidGates, WindowGates
from .trees import Span, children_of, find_most_probable_tree

#: Inches of a level of a pyramid, and of windows, whose lines are the flatter the higher it is.
PYRAMID_LEVEL, WINDOW_LEVEL = 0.34, 0.85
#: How far the lines of merging stand beside those of passing on, in leaves of a pyramid; of windows, in inches.
OFFSET, GAP = 0.07, 0.045
#: Points: of lines on the way to the summary, and of the others; of a pyramid's.
WIDE, NARROW, MEDIUM = 2.2, 0.9, 1.8
#: From a gate of 0 to a gate of 1. Both ends can be told from white paper and, in gray print, by their line's style.
PASSED = LinearSegmentedColormap.from_list("passed", ["#dcdcdc", "#000000"])
MERGED = LinearSegmentedColormap.from_list("merged", ["#ffd9b8", "#c43c00"])

#: Gates above it are drawn.
THRESHOLD = 0.1
#: Inches: of a character, between leaves at least.
CHARACTER, NARROWEST = 0.1, 0.5

Point = tuple[float, float]


def draw_sentence(gates: PyramidGates | WindowGates) -> Figure:
    """A pyramid with the tree that it implies, or the windows that a dilated grConv joins."""
    if isinstance(gates, WindowGates):
        return draw_windows(gates)
    return draw_pyramid(gates, find_most_probable_tree(gates))


@set_style()
def draw_pyramid(pyramid: PyramidGates, tree: Iterable[Span]) -> Figure:
    """Draws the edges of a pyramid that reach its root over gates above `THRESHOLD`, the darker the greater the gate.

    Each node stands above the middle of the leaves that it covers. A black line to a child is the gate that passes this
    child on; a pair of orange lines is the gate that merges both into a new node. The tree over the words is drawn
    upside down below them.
    """
    leaves, tree = len(pyramid.leaves), set(tree)
    places = place_phrases(tree, len(pyramid.words))
    depth = max((depth for _, depth in places.values()), default=0)
    figure, above, below, _ = lay_out(pyramid, max(PYRAMID_LEVEL * leaves, 1.6), PYRAMID_LEVEL * (depth + 1))
    joins = pyramid.joins()

    def place(node: Node) -> Point:
        level, word = node
        return word + level / 2, level

    def inward(ends: np.ndarray, other: Point) -> np.ndarray:
        return np.array([copysign(OFFSET, other[0] - ends[1, 0]), 0])

    widths = dict.fromkeys(find_reached((leaves - 1, 0), joins), MEDIUM)
    draw_joins(above, leaves, joins, widths, place, inward)
    above.set_ylim(-0.4, leaves - 0.6)
    above.set_ylabel("level of the pyramid")
    above.yaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], integer=True))
    for span in tree:
        x, top = places[span]
        for child_x, child_top in (places[child] for child in children_of(span, tree)):
            below.plot([x, child_x, child_x], [top, top, child_top], color="#1f5fa8", linewidth=1.5)
    below.set_ylim(depth + 0.4, 0)
    below.set_ylabel("implied\ntree")
    below.set_yticks([])
    below.tick_params(axis="x", bottom=False, labelbottom=False)
    below.spines[:].set_visible(False)
    above.set_title(f"Gates above {THRESHOLD:g} on the way to the root", fontsize=10, loc="left")
    return figure


def place_phrases(tree: set[Span], words: int) -> dict[Span, tuple[float, int]]:
    """Where each phrase and word is drawn: the middle of its children, and how many phrases are in one another."""
    places: dict[Span, tuple[float, int]] = {(word, word + 1): (float(word), 0) for word in range(words)}
    for span in sorted(tree, key=lambda span: span[1] - span[0]):
        children = [places[child] for child in children_of(span, tree)]
        places[span] = (children[0][0] + children[-1][0]) / 2, 1 + max(depth for _, depth in children)
    return places


@set_style()
def draw_windows(windows: WindowGates) -> Figure:
    """Draws the gates above `THRESHOLD` of both directions, the darker the greater the gate.

    Above the words, each node stands over the word at which its window ends; below them, under the word at which its
    window begins. A black line to a child is the gate that passes this child's window on; a pair of orange lines is the
    gate that merges both into a new node. Wide lines lead to the two nodes of the summary, which have merged the whole
    sentence if ``--grconv-height`` is no lower, over gates above it; what only attention may read has narrow
    ones.
    """
    leaves, levels = len(windows.leaves), len(windows.forward)
    side = WINDOW_LEVEL * levels + 0.45
    figure, above, below, spacing = lay_out(windows, side, side)

    def place(node: Node) -> Point:
        level, word = node
        return word, level

    def inward(ends: np.ndarray, other: Point) -> np.ndarray:
        inches = np.array([spacing, WINDOW_LEVEL])
        (x, y), toward = (ends[1] - ends[0]) * inches, (np.array(other) - ends[0]) * inches
        normal = np.array([-y, x]) / np.hypot(x, y)
        return GAP * (normal if normal @ toward > 0 else -normal) / inches

    for axes, backward in ((above, False), (below, True)):
        joins = windows.joins(backward=backward)
        reached = find_reached((levels, 0 if backward else leaves - 1), joins)
        widths = {join.node: WIDE if join.node in reached else NARROW for join in joins}
        draw_joins(axes, leaves, joins, widths, place, inward)
        # A quarter of a level between the nodes at either end and the edge.
        axes.set_ylim((levels + 0.25, -0.25) if backward else (-0.25, levels + 0.25))
        axes.set_yticks(range(levels + 1))
        axes.set_ylabel("level")
    # In two lines, which even the narrowest figure has room for.
    title = f"Forward: windows that end at a word\nGates above {THRESHOLD:g}; wide: on the way to the summary"
    above.set_title(title, fontsize=10, loc="left")
    below.set_title("Backward: windows that begin at a word", fontsize=10, loc="left", y=-0.02, va="top")
    return figure


def lay_out(sentence: GatedSentence, above: float, below: float) -> tuple[Figure, Axes, Axes, float]:
    """A figure of the leaves, with room above and below them, so many inches high, and with the scales of the lines.

    Returns:
        The figure; the axes above and below, in which each leaf stands at its number; the inches between two leaves.
    """
    longest = CHARACTER * max(map(len, sentence.leaves))
    spacing = min(max(NARROWEST, longest + 0.12), 1.1)
    is_upright = longest + 0.12 > spacing
    heights = [above, (longest if is_upright else 0.25) + 0.1, below]
    size = max(spacing * len(sentence.leaves) + 2.4, 6.0), sum(heights) + 0.9
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=heights)
    top = figure.add_subplot(grid[0])
    words, bottom = (figure.add_subplot(grid[row], sharex=top) for row in (1, 2))
    for position, leaf in enumerate(sentence.leaves):
        words.text(position, 0.5, leaf, ha="center", va="center", rotation=90 if is_upright else 0)
    words.set_axis_off()
    top.set_xlim(-0.6, len(sentence.leaves) - 0.4)
    for colors, label in (
        (MERGED, "merges both\nchildren (new), dashed"),
        (PASSED, "passes one\nchild on (left, right)"),
    ):
        bar = figure.colorbar(ScalarMappable(Normalize(0, 1), colors), ax=top, fraction=0.04, pad=0.02, aspect=18)
        bar.set_label(f"gate: {label}", fontsize=8)
        bar.ax.set_ylim(THRESHOLD, 1)
    return figure, top, bottom, spacing


def find_reached(root: Node, joins: Iterable[Join]) -> set[Node]:
    """The nodes and leaves that a root reaches over gates above `THRESHOLD`, the root included."""
    made_by = {join.node: join for join in joins}
    waiting, reached = [root], set[Node]()
    while waiting:
        node = waiting.pop()
        if node in made_by and node not in reached:
            gates = made_by[node].gates
            waiting += [child for side, child in made_by[node].children() if max(gates[NEW], gates[side]) > THRESHOLD]
        reached.add(node)
    return reached


class Line(NamedTuple):
    """From a node to a child, (2, 2) as rows of (x, y); its gate; how wide it is drawn, in points."""

    ends: np.ndarray
    value: float
    width: float


def draw_joins(
    axes: Axes,
    leaves: int,
    joins: Iterable[Join],
    widths: Mapping[Node, float],
    place: Callable[[Node], Point],
    inward: Callable[[np.ndarray, Point], np.ndarray],
) -> None:
    """Draws the gates above `THRESHOLD` of nodes, and the nodes and leaves on top of them.

    Args:
        axes: to draw into.
        leaves: how many there are.
        joins: the nodes.
        widths: of each node's lines, in points; other nodes are not drawn.
        place: where a node or leaf is.
        inward: how far the line between two points, by the place of the other child, moves to be beside itself, inside
            the triangle that a node makes with its children.
    """
    shown = [join for join in joins if join.node in widths]
    passed, merged = [], []
    for join in shown:
        for (side, child), other in zip(join.children(), (join.right, join.left)):
            ends, width = np.array([place(join.node), place(child)]), widths[join.node]
            if join.gates[side] > THRESHOLD:
                passed.append(Line(ends, float(join.gates[side]), width))
            if join.gates[NEW] > THRESHOLD:
                merged.append(Line(ends + inward(ends, place(other)), float(join.gates[NEW]), width))
    draw_lines(axes, passed, merged)
    nodes = [*((0, leaf) for leaf in range(leaves)), *(join.node for join in shown)]
    places = np.array(list(map(place, nodes)))
    axes.scatter(places[:, 0], places[:, 1], s=16, c="white", edgecolors="#444444", linewidths=0.8, zorder=2)
    axes.tick_params(axis="x", bottom=False, labelbottom=False)
    axes.spines[["top", "right", "bottom"]].set_visible(False)


def draw_lines(axes: Axes, passed: list[Line], merged: list[Line]) -> None:
    """Lines of both kinds, the darkest last, above the others."""
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
