"""A soft alignment as a figure, as in Bahdanau et al. (2015), figure 3."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ..figures import font_families
from .links import Link
from .soft_alignment import SoftAlignment

#: Inches of a cell and of a character of a label.
CELL, CHARACTER = 0.3, 0.095


def draw_heat_map(
    alignment: SoftAlignment, *, gold: Iterable[Link] = (), source_title: str = "source", target_title: str = "target"
) -> Figure:
    """Draws the source from left to right, the target from top to bottom, a weight from 0 (black) to 1 (white).

    Gold links are framed; the titles are those of the axes.

    Raises:
        ValueError: if one side has no tokens.
    """
    rows, columns = alignment.weights.shape
    if not rows or not columns:
        raise ValueError(f"sentence {alignment.number} has {rows} target and {columns} source tokens: nothing to draw")
    gold = list(gold)
    widest, tallest = (CHARACTER * max(map(len, side)) for side in (alignment.target, alignment.source))
    size = (CELL * columns + widest + 1.9, CELL * max(rows, 4) + tallest + 0.7 + 0.35 * bool(gold))
    figure = Figure(figsize=(max(size[0], 3.6), size[1]), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(alignment.weights, cmap="gray", vmin=0, vmax=1, aspect="equal", interpolation="nearest")
    axes.set_xticks(range(columns), alignment.source, rotation=90, family=font_families(), fontsize=11)
    axes.set_yticks(range(rows), alignment.target, family=font_families(), fontsize=11)
    axes.xaxis.tick_top()
    # By these names a page's script finds the cells and the words.
    axes.set_gid("alignment")
    for side, labels in (("source", axes.get_xticklabels()), ("target", axes.get_yticklabels())):
        for index, label in enumerate(labels):
            label.set_gid(f"{side}-{index}")
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(source_title, family=font_families(), labelpad=8)
    axes.set_ylabel(target_title, family=font_families())
    axes.tick_params(length=0)
    frames = [
        Rectangle((source - 0.46, target - 0.46), 0.92, 0.92, fill=False, edgecolor="#e8590c", linewidth=1.6)
        for source, target in gold
    ]
    for frame in frames:
        axes.add_patch(frame)
    if frames:
        figure.legend([frames[0]], ["gold link"], loc="outside lower center", frameon=False, fontsize=9)
    figure.colorbar(image, ax=axes, label="attention weight", fraction=0.06, pad=0.03, shrink=min(1.0, 8 / rows))
    return figure
