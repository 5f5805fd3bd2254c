"""What figures of gates share: lines of two kinds, the words below them, scales, and the choice of the figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from ..figures import font_families
from .gates import GatedSentence

#: From a gate of 0 to a gate of 1. Both ends can be told from white paper and, in gray print, by their line's style.
PASSED = LinearSegmentedColormap.from_list("passed", ["#dcdcdc", "#000000"])
MERGED = LinearSegmentedColormap.from_list("merged", ["#ffd9b8", "#c43c00"])

NEW, LEFT, RIGHT = 0, 1, 2
#: Inches: of a character, between leaves at least.
CHARACTER, NARROWEST = 0.1, 0.5


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


def plan_columns(sentence: GatedSentence, threshold: float) -> Columns:
    """Makes room for the longest word.

    Raises:
        ValueError: if the sentence has no leaves or the threshold is no probability below 1.
    """
    if not sentence.leaves:
        raise ValueError(f"sentence {sentence.number} has no leaves to draw")
    if not 0 <= threshold < 1:
        raise ValueError(f"the threshold must be at least 0 and less than 1, not {threshold}")
    longest = max(map(len, sentence.leaves))
    spacing = min(max(NARROWEST, CHARACTER * longest + 0.12), 1.1)
    upright = CHARACTER * longest + 0.12 > spacing
    return Columns(spacing, CHARACTER * longest if upright else 0.25, upright)


def draw_words(axes: Axes, leaves: Sequence[str], columns: Columns) -> None:
    """The leaves, each at its number."""
    rotation = 90 if columns.upright else 0
    for position, leaf in enumerate(leaves):
        axes.text(position, 0.5, leaf, ha="center", va="center", rotation=rotation, family=font_families())
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


def add_scales(figure: Figure, axes: Axes, threshold: float) -> None:
    """What the darkness of both kinds of lines means."""
    for colors, label in (
        (MERGED, "merges both\nchildren (new), dashed"),
        (PASSED, "passes one\nchild on (left, right)"),
    ):
        bar = figure.colorbar(ScalarMappable(Normalize(0, 1), colors), ax=axes, fraction=0.04, pad=0.02, aspect=18)
        bar.set_label(f"gate: {label}", fontsize=8)
        bar.ax.set_ylim(threshold, 1)
