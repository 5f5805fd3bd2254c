"""The gated recursive convolution of ``packed``, with each level in C++: ``../native/grconv.cpp``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from ..backend import check_native
from . import packed
from .interface import GRConvOutput, GRConvWeights, Levels
from .level import Level, LevelWeights, PyramidLayout


def grconv(
    leaves: Tensor, weights: GRConvWeights, counts: Sequence[int], activation: str, levels: Levels
) -> GRConvOutput:
    """Computes :func:`recurrent_mt.kernels.grconv.grconv` in C++."""
    check_native("grconv", leaves)
    return packed.grconv(leaves.contiguous(), weights, counts, activation, levels, level=NativeLevel)


class NativeWeights(LevelWeights):
    """The weights, also in the order in which C++ multiplies by them: copied once for all levels."""

    @cached_property
    def upward(self) -> tuple[Tensor, Tensor]:
        """For rows of left and of right children."""
        left, right = (torch.ops.recurrent_mt.right_factor(weight.t()) for weight in (self.left, self.right))
        return left, right

    @cached_property
    def downward(self) -> tuple[Tensor, Tensor]:
        """Returns the matrices in the layout that the gradients of their products need."""
        left, right = (torch.ops.recurrent_mt.right_factor(weight) for weight in (self.left, self.right))
        return left, right


class NativeLevel(Level):
    """A level in three operations; left children are found by their rows."""

    def __init__(self, pyramid: PyramidLayout, level: int, below: Tensor) -> None:
        self.children = below, pyramid.left(level), pyramid.first(level)
        self.is_tanh = pyramid.is_tanh

    @staticmethod
    def prepare(weights: LevelWeights) -> NativeWeights:
        return NativeWeights(*weights)

    def grow(self, weights: LevelWeights) -> tuple[Tensor, Tensor, Tensor]:
        assert isinstance(weights, NativeWeights)
        return torch.ops.recurrent_mt.grconv_level(*self.children, *weights.upward, weights.bias, self.is_tanh)

    def merge(self, candidate: Tensor, gates: Tensor) -> Tensor:
        return torch.ops.recurrent_mt.grconv_merge(*self.children, candidate, gates)

    def backward(
        self, grad: Tensor, candidate: Tensor, gates: Tensor, *, weights: LevelWeights, sums: LevelWeights
    ) -> Tensor:
        assert isinstance(weights, NativeWeights)
        return torch.ops.recurrent_mt.grconv_level_backward(
            grad, *self.children, candidate, gates, *weights.downward, self.is_tanh, *sums.both, sums.bias
        )
