"""Fewer combinations than all, where options meet in a product."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any


def half(*factors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Half of the combinations of the factors' values: each of one factor's two values with every choice of the others.

    The combinations whose places in the factors have an even sum: whatever all factors but one are set to, a factor of
    two values has exactly one of them there, so no two (of four factors, no three) values are left without a meeting.
    """
    places = product(*(range(len(factor)) for factor in factors))
    return [tuple(factor[i] for factor, i in zip(factors, place)) for place in places if sum(place) % 2 == 0]


def quarter(*factors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """A quarter of the combinations, where the last factor has two values, and two others have four or more.

    The combinations whose places, that in the last factor twice, have a sum that four divides: any two values meet,
    those of the two large factors too, as the last factor and another of two values make up what is missing.
    """
    places = product(*(range(len(factor)) for factor in factors))
    return [
        tuple(factor[i] for factor, i in zip(factors, place)) for place in places if (sum(place) + place[-1]) % 4 == 0
    ]


def eighth(*factors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Half of a `quarter` of all factors but the last, which has two values and comes with any value of the others.

    The first and the third factor are the large ones; half of the sum of their places' halves is that of the last.
    """
    return [
        (*chosen, factors[-1][(factors[0].index(chosen[0]) // 2 + factors[2].index(chosen[2]) // 2) % 2])
        for chosen in quarter(*factors[:-1])
    ]
