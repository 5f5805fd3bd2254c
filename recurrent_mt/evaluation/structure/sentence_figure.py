"""The figure of a sentence's gates, whichever grConv they are of."""

from __future__ import annotations

from matplotlib.figure import Figure

from .gates import PyramidGates, WindowGates
from .most_probable_tree import find_most_probable_tree
from .pyramid_figure import draw_pyramid
from .windows_figure import draw_windows


def draw_sentence(gates: PyramidGates | WindowGates, *, threshold: float = 0.1) -> Figure:
    """A pyramid with the tree that it implies, or the windows that a dilated grConv joins.

    Raises:
        ValueError: if the sentence has no leaves or the threshold is no probability below 1.
    """
    if isinstance(gates, WindowGates):
        return draw_windows(gates, threshold=threshold)
    return draw_pyramid(gates, threshold=threshold, tree=find_most_probable_tree(gates))
