"""Where to cut a sentence so that its spans cost the least."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Segmentation:
    """A sentence cut into spans.

    Attributes:
        cost: the sum of the spans' costs.
        spans: (start, end) of each, in order; ``end`` is the position after the last word.
    """

    cost: float
    spans: tuple[tuple[int, int], ...]


def cheapest_segmentation(length: int, span_cost: Callable[[int, int], float], *, longest: int) -> Segmentation:
    """Finds the cheapest segmentation that has no span of more than ``longest`` words.

    The best segmentation of each prefix is the best last span after the best segmentation of what comes before it. If
    two last spans of a prefix give the same sum, the longer one is used, as in the authors' ``segment.py``.

    Args:
        length: how many words the sentence has; an empty sentence costs nothing.
        span_cost: the cost of the words from start up to, not including, end; +∞ forbids the span.
        longest: the most words in a span.

    Raises:
        ValueError: if a cost is not a number or −∞, if ``longest`` is below 1, or if all segmentations are forbidden.
    """
    if longest < 1:
        raise ValueError(f"a span needs room for at least one word, not {longest}")
    prefix_cost = [0.0] + [math.inf] * length
    last_start = [0] * (length + 1)
    for end in range(1, length + 1):
        for start in range(max(0, end - longest), end):
            cost = span_cost(start, end)
            if math.isnan(cost) or cost == -math.inf:
                raise ValueError(f"the span from word {start + 1} to word {end} has the cost {cost}")
            if prefix_cost[start] + cost < prefix_cost[end]:
                prefix_cost[end] = prefix_cost[start] + cost
                last_start[end] = start
    if prefix_cost[length] == math.inf:
        raise ValueError(f"every segmentation of the {length} words has a forbidden span")
    spans, end = [], length
    while end > 0:
        spans.append((last_start[end], end))
        end = last_start[end]
    return Segmentation(prefix_cost[length], tuple(reversed(spans)))
