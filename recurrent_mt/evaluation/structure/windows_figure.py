"""The gates of a dilated grConv as a figure: the windows that the nodes of both directions join."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .gate_figure import NEW, RIGHT, Line, add_scales, draw_lines, draw_words, plan_columns
from .gates import Join, Node, WindowGates, list_joins

#: Inches of a level, whose lines are the flatter the higher it is; of the space between lines of one child.
LEVEL, GAP = 0.85, 0.045
#: Points: of lines on the way to the summary, and of the others.
WIDE, NARROW = 2.2, 0.9


def draw_windows(windows: WindowGates, *, threshold: float = 0.1) -> Figure:
    """Draws the gates above a threshold of both directions, the darker the greater the gate.

    Above the words, each node stands over the word at which its window ends; below them, under the word at which its
    window begins. A black line to a child is the gate that passes this child's window on; a pair of orange lines is the
    gate that merges both into a new node. Wide lines lead to the two nodes that have merged the whole sentence, over
    gates above the threshold; what only attention may read has narrow ones.

    Raises:
        ValueError: if the sentence has no leaves or the threshold is no probability below 1.
    """
    columns = plan_columns(windows, threshold)
    leaves, levels = len(windows.leaves), len(windows.forward)
    side = LEVEL * levels + 0.45
    heights = [side, columns.height + 0.1, side]
    figure = Figure(figsize=(max(columns.spacing * leaves + 2.4, 6.0), sum(heights) + 0.9), layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=heights)
    above = figure.add_subplot(grid[0])
    words, below = (figure.add_subplot(grid[row], sharex=above) for row in (1, 2))
    draw_words(words, windows.leaves, columns)
    for axes, gates, backward in ((above, windows.forward, False), (below, windows.backward, True)):
        joins = list_joins(leaves, backward=backward)
        root = joins[-1][0 if backward else -1] if joins else None
        _draw_direction(axes, root, joins, gates, threshold, columns.spacing)
        # A quarter of a level between the nodes at either end and the edge.
        axes.set_ylim((levels + 0.25, -0.25) if backward else (-0.25, levels + 0.25))
        axes.set_yticks(range(levels + 1))
        axes.set_ylabel("level")
    title = f"Forward: windows that end at a word. Gates above {threshold:g}; wide: on the way to the summary"
    above.set_xlim(-0.6, leaves - 0.4)
    above.set_title(title, fontsize=10, loc="left")
    below.set_title("Backward: windows that begin at a word", fontsize=10, loc="left", y=-0.02, va="top")
    add_scales(figure, above, threshold)
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
    threshold: float,
    spacing: float,
) -> None:
    reached = find_reached(root, joins, gates, threshold) if root else set()
    passed, merged = [], []
    nodes = {(0, word) for word in range(len(joins[0]) + 1 if joins else 1)}
    for level, values in zip(joins, gates):
        for join, gate in zip(level, values):
            node = (join.level, join.word)
            nodes.add(node)
            width = WIDE if node in reached else NARROW
            for side, child in join.children():
                other = join.left if side == RIGHT else join.right
                ends = np.array([_place(node), _place(child)])
                if gate[side] > threshold:
                    passed.append(Line(ends, float(gate[side]), width))
                if gate[NEW] > threshold:
                    merged.append(Line(ends + _inward(ends, _place(other), spacing), float(gate[NEW]), width))
    draw_lines(axes, passed, merged, map(_place, sorted(nodes)))


def _place(node: Node) -> tuple[float, float]:
    level, word = node
    return word, level


def _inward(ends: np.ndarray, other: tuple[float, float], spacing: float) -> np.ndarray:
    """How far to move a line to have it beside itself, inside the triangle that a node makes with its children."""
    inches = np.array([spacing, LEVEL])
    (x, y), toward = (ends[1] - ends[0]) * inches, (np.array(other) - ends[0]) * inches
    normal = np.array([-y, x]) / np.hypot(x, y)
    return GAP * (normal if normal @ toward > 0 else -normal) / inches
