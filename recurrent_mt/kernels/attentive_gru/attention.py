"""The attention of a step in PyTorch operations, forward and backward.

The gradients of the values and, for the dot product, of the keys are one product each, after all steps. The tanh of
additive attention, B × S × A numbers a step, is recomputed in the backward pass instead of being kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..gru.backends import joined
from ..matrix import pieces, product
from .interface import AttentiveGRUWeights, Memory


def by_sentence(rows: Tensor, counts: Sequence[int]) -> Tensor:
    """Packed rows (N, …) as sentences in packed order (B, T, …), with zeros after a sentence's end."""
    padded = rows.new_zeros(counts[0], len(counts), *rows.shape[1:])
    for position, part in enumerate(rows.split(list(counts))):
        padded[: part.size(0), position] = part
    return padded


def _additive_energy(queries: Tensor, keys: Tensor, score: Tensor) -> Tensor:
    """The energy (b, beam, S) of queries (b, beam, A) and keys (b, S, A)."""
    queries, keys = queries.unsqueeze(2), keys.unsqueeze(1)
    sums = queries.size(1) * keys.size(2) * keys.size(3)
    sentences = pieces(keys.size(0), sums, keys)
    return joined([(keys[piece] + queries[piece]).tanh_() @ score for piece in sentences])


def packed_attend(state: Tensor, memory: Memory, weights: AttentiveGRUWeights) -> tuple[Tensor, Tensor]:
    """The context (n, D) and the attention (n, S) for the states (n, H)."""
    keys, values, padding_mask = (tensor[: state.size(0)] for tensor in memory)
    # The hypotheses of a source are adjacent, and read it without a copy: (b, beam, …).
    grouped = state.view(keys.size(0), -1, state.size(1))
    if weights.query is None or weights.score is None:
        energy = torch.bmm(grouped, keys.transpose(1, 2))
    else:
        energy = _additive_energy(project_query(state, weights.query).view(*grouped.shape[:2], -1), keys, weights.score)
    energy.masked_fill_(padding_mask.unsqueeze(1), torch.finfo(energy.dtype).min)
    attention = torch.softmax(energy, dim=2)
    return torch.bmm(attention, values).flatten(0, 1), attention.flatten(0, 1)


def project_query(state: Tensor, weight: Tensor) -> Tensor:
    """W_a s (n, A) of the states (n, H)."""
    return product(state, weight.t()).to(state.dtype)


class StepAttention:
    """The attention of a step, forward and backward; other backends override it."""

    def attend(self, state: Tensor, memory: Memory, weights: AttentiveGRUWeights) -> tuple[Tensor, Tensor]:
        return packed_attend(state, memory, weights)

    def backward(self, memory: Memory, weights: AttentiveGRUWeights, attention: Tensor) -> AttentionBackward:
        """What collects its gradients, from the last step to the first."""
        return AttentionBackward(memory, weights, attention)


def outer_products(left: Tensor, right: Tensor, counts: Sequence[int], like: Tensor) -> Tensor:
    """For each sentence, the sum over its rows of left ⊗ right: (N, X), (N, Y) → (B, X, Y)."""
    product = torch.bmm(by_sentence(left, counts).transpose(1, 2), by_sentence(right, counts))
    if counts[0] == like.size(0):
        return product
    return torch.cat([product, torch.zeros_like(like[counts[0] :])])


class AttentionBackward:
    """The attention's part of the backward pass: gradients collected over the steps."""

    def __init__(self, memory: Memory, weights: AttentiveGRUWeights, attention: Tensor) -> None:
        self.memory, self.weights, self.attention = memory, weights, attention
        self.grad_energy = torch.empty_like(attention)  # (N, S)
        if weights.score is not None:
            # v_a, which the gradients of keys and queries share at all steps, is multiplied in at the end.
            self.grad_keys = torch.zeros_like(memory.keys)
            self.grad_queries = attention.new_empty(attention.size(0), memory.keys.size(2))
            self.grad_score = torch.zeros_like(weights.score)

    def step(self, grad_context: Tensor, state: Tensor, rows: slice) -> Tensor:
        """The gradient (n, H) of one step's query state."""
        keys, values, padding = (tensor[: state.size(0)] for tensor in self.memory)
        grad_attention = torch.bmm(values, grad_context.unsqueeze(2)).squeeze(2)
        grad_energy = torch._softmax_backward_data(grad_attention, self.attention[rows], 1, grad_context.dtype)
        # Where all is padding, attention is even all the same, but of no energy.
        grad_energy.masked_fill_(padding, 0.0)
        self.grad_energy[rows] = grad_energy
        query, score = self.weights.query, self.weights.score
        if query is None or score is None:
            return torch.bmm(grad_energy.unsqueeze(1), keys).squeeze(1)
        queries = project_query(state, query).unsqueeze(1)
        grad_query = self.grad_queries[rows]
        for piece in pieces(keys.size(0), keys.size(1) * keys.size(2), keys):
            tanh = (keys[piece] + queries[piece]).tanh_()
            self.grad_score += grad_energy[piece].flatten() @ tanh.flatten(0, 1)
            slope = torch.ops.aten.tanh_backward(grad_energy[piece].unsqueeze(2).expand_as(tanh), tanh)
            self.grad_keys[piece] += slope
            torch.sum(slope, dim=1, out=grad_query[piece])
        grad_query.mul_(score)
        return product(grad_query, query).to(grad_query.dtype)

    def finish(self, states: Tensor, counts: Sequence[int]) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """The gradients of keys, query weight and score vector; ``states`` (N, H) were the queries."""
        query, score = self.weights.query, self.weights.score
        if query is None or score is None:
            return outer_products(self.grad_energy, states, counts, self.memory.keys), None, None
        grad_weight = product(self.grad_queries.t(), states.to(query.dtype))
        return self.grad_keys.mul_(score), grad_weight, self.grad_score
