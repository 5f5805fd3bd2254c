"""What an attentive GRU reads, and the weights it reads with."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from ..matrix import Matrix, as_matrix


class Memory(NamedTuple):
    """The annotations of a batch of sources, in packed order of the targets.

    In a search, several targets share a source: with more states than sources, state i of n reads source i // (n / B).

    Attributes:
        keys: (B, S, A) what queries are compared with: the annotations or a projection of them.
        values: (B, S, D) the annotations. On padding they must be finite.
        padding_mask: (B, S) True on padding.
    """

    keys: Tensor
    values: Tensor
    padding_mask: Tensor

    def to(self, number: torch.dtype) -> Memory:
        return self._replace(keys=self.keys.to(number), values=self.values.to(number))

    def rows(self, count: int) -> Memory:
        """Returns the memory that each of ``count`` states reads."""
        sources = self.keys.size(0)
        if count <= sources:
            return Memory(*(field[:count] for field in self))
        return Memory(*(field.repeat_interleave(count // sources, dim=0) for field in self))


class AttentiveGRUWeights(NamedTuple):
    """The weights of an attentive GRU; the rows of ``context`` are ordered [reset, update, candidate].

    Attributes:
        gate: (2H, H) U_r above U_z, whole or a product of two matrices.
        candidate: (H, H) U, the same way.
        context: (3H, D) C_r above C_z above C, the same way.
        query: (A, H) W_a for additive attention; None if the state itself is the query (then A = H).
        score: (A,) v_a for additive attention; None for the dot product of query and key.
    """

    gate: Tensor | Matrix
    candidate: Tensor | Matrix
    context: Tensor | Matrix
    query: Tensor | None
    score: Tensor | None

    def to(self, number: torch.dtype) -> AttentiveGRUWeights:
        return self._each(lambda matrix: matrix.to(number))

    def for_steps(self, steps: int) -> AttentiveGRUWeights:
        """The same, stored in the way that is fastest for that many steps; see :meth:`Matrix.for_steps`."""
        return self._each(lambda matrix: matrix.for_steps(steps))

    def _each(self, change: Callable[[Matrix], Matrix]) -> AttentiveGRUWeights:
        query = None if self.query is None else change(Matrix(self.query)).left
        gate, candidate, context = map(change, self.matrices())
        return AttentiveGRUWeights(gate, candidate, context, query, self.score)

    def matrices(self) -> tuple[Matrix, Matrix, Matrix]:
        """Returns the gate, candidate, and context weights as matrices."""
        return as_matrix(self.gate), as_matrix(self.candidate), as_matrix(self.context)
