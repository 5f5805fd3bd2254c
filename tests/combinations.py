"""Fewer combinations than all, where options meet in a product."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any


def half(*factors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Half of the combinations of the factors' values: each of one factor's two values with every choice of the others.

    The combinations whose places in the factors have an even sum: whatever all factors but one are set to, a factor of
    two values has exactly one of them there, so no two (of four factors, no three) values are left without a meeting.
    """
    places = product(*(range(len(factor)) for factor in factors))
    return [tuple(factor[i] for factor, i in zip(factors, place)) for place in places if sum(place) % 2 == 0]


def pairwise(*factors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """A few combinations, in which any two values of two factors meet: always the next that brings most new pairs."""
    pairs = {values: set(combinations(enumerate(values), 2)) for values in product(*factors)}
    missing, chosen = set().union(*pairs.values()), []
    while missing:
        chosen.append(max(pairs, key=lambda values: len(pairs[values] & missing)))
        missing -= pairs[chosen[-1]]
    return chosen
