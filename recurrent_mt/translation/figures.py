"""Figures of what models do with one sentence; those of alignments and gates are `recurrent_mt.evaluation`'s."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from ..evaluation.alignment_figures import draw_heat_map
from ..evaluation.figures import choose_mark, new_axes, set_style
from ..evaluation.structure.gate_figures import draw_sentence
from .model import Cut

__all__ = ["draw_cuts", "draw_heat_map", "draw_sentence", "group_cuts"]


@set_style()
def draw_cuts(cuts: Mapping[str, Sequence[Cut]], names: Sequence[str] = ()) -> Figure:
    """How sure each model is of its translation of the first words, along their number.

    Args:
        cuts: of each model, of the same sentence.
        names: of all models, if there are others without cuts: a model's place among them decides its color.

    Raises:
        ValueError: if two models split the sentence into other words (see `group_cuts`).
    """
    if len(groups := group_cuts(cuts)) > 1:
        one, other = (next(iter(group)) for group in groups[:2])
        raise ValueError(f"{one} and {other} split the sentence into other words: draw a figure for each")
    order = list(names or cuts)
    figure, axes = new_axes(7.2, 3.4)
    for name, found in cuts.items():
        lengths, scores = [cut.words for cut in found], [cut.score for cut in found]
        axes.plot(lengths, scores, **choose_mark(order.index(name)), markersize=4, label=name)
    first = next(iter(cuts.values()))
    words = [cut.source.split()[-1] for cut in first]
    axes.set_xticks([cut.words for cut in first], words, rotation=90, fontsize=8)
    axes.set_xlabel("the sentence up to this word")
    axes.set_ylabel("log₂ p per token")
    figure.legend(handles=axes.lines, loc="outside upper center", ncols=2, frameon=False, fontsize=8)
    return figure


def group_cuts(cuts: Mapping[str, Sequence[Cut]]) -> list[dict[str, Sequence[Cut]]]:
    """The models that can share a figure: they split the sentence into the same words, whatever their case."""
    groups: dict[tuple[str, ...], dict[str, Sequence[Cut]]] = {}
    for name, found in cuts.items():
        groups.setdefault(tuple(cut.source.casefold() for cut in found), {})[name] = found
    return list(groups.values())
