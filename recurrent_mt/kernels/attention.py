"""Attention, what a decoder reads of the source, forward and backward: of a step, or of whole sentences at once.

In a step, the gradients of the values and, for the dot product, of the keys are one product each, after all steps. The
tanh of additive attention, B × S × A numbers a step, is recomputed in the backward pass instead of being kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .dispatch import Operation, in_triton
from .gru import joined
from .matrix import Matrix, as_matrix, pieces, product
from .packing import Packing


class Memory(NamedTuple):
    """The annotations of a batch of sources, in packed order of the targets.

    In a search, several targets share a source: with more states than sources, state i of n reads source i // (n / B).
    """

    keys: Tensor  # (B, S, A) what queries are compared with: the annotations or a projection of them
    values: Tensor  # (B, S, D) the annotations. On padding they must be finite.
    padding_mask: Tensor  # (B, S) True on padding

    def to(self, dtype: torch.dtype) -> Memory:
        return self._replace(keys=self.keys.to(dtype), values=self.values.to(dtype))

    def rows(self, count: int) -> Memory:
        """Returns the memory that each of ``count`` states reads."""
        sources = self.keys.size(0)
        if count <= sources:
            return Memory(*(field[:count] for field in self))
        return Memory(*(field.repeat_interleave(count // sources, dim=0) for field in self))

    def check(self, count: int) -> None:
        """Rejects parts that do not fit together, and a memory that is not for so many states.

        Raises:
            ValueError: with their shapes.
        """
        sources, words, _ = self.keys.shape
        if self.values.shape[:2] != (sources, words) or self.padding_mask.shape != (sources, words):
            found = ", ".join(str(tuple(tensor.shape)) for tensor in self)
            raise ValueError(f"keys (B, S, A), values (B, S, D) and padding_mask (B, S) do not fit: {found}")
        if count > sources and (not sources or count % sources):
            raise ValueError(f"{count} states cannot share {sources} sources evenly")


class AttentionWeights(NamedTuple):
    """The weights of an attention."""

    query: Tensor | None  # (A, H) W_a for additive attention; None if the state itself is the query (then A = H)
    score: Tensor | None  # (A,) v_a for additive attention; None for the dot product of query and key

    def to(self, products: torch.dtype) -> AttentionWeights:
        """The same with the one matrix that is multiplied by in that dtype."""
        return self._replace(query=None if self.query is None else self.query.to(products))


class AttentiveGRUWeights(NamedTuple):
    """The weights of an attentive GRU; the rows of ``context`` are ordered [reset, update, candidate]."""

    gate: Tensor | Matrix  # (2H, H) U_r above U_z, whole or a product of two matrices
    candidate: Tensor | Matrix  # (H, H) U, the same way
    context: Tensor | Matrix  # (3H, D) C_r above C_z above C, the same way
    query: Tensor | None  # as in :class:`AttentionWeights`
    score: Tensor | None  # the same

    def to(self, dtype: torch.dtype) -> AttentiveGRUWeights:
        return self._each(lambda matrix: matrix.to(dtype))

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


def attend(state: Tensor, memory: Memory, weights: AttentionWeights) -> tuple[Tensor, Tensor]:
    """What a step reads: the context (n, D) and the attention (n, S) for the states (n, H) that enter it.

    Args:
        state: (n, H).
        memory: of n sources or more, in packed order, or of B that n / B states each share.
        weights: with ``score`` None, it is the dot product.

    Raises:
        ValueError: if the shapes do not fit together, or if an implementation is asked for that cannot run here.
    """
    memory.check(state.size(0))
    call = ATTEND.call(state if weights.score is None else weights.score)
    with call.outside_autocast:
        return call.run(state.to(call.states), memory.to(call.states), weights, call.products)


def reference_attend(
    state: Tensor, memory: Memory, weights: AttentionWeights | AttentiveGRUWeights, products: torch.dtype
) -> tuple[Tensor, Tensor]:
    """The context c_i (n, D) and the weights α_i (n, S) for the state s_{i−1} (n, H)."""
    h, annotations, padding_mask = memory.rows(state.size(0))
    if weights.query is None or weights.score is None:
        e = (h * state.unsqueeze(1)).sum(dim=2)
    else:
        W_a, v_a = weights.query, weights.score
        e = torch.tanh((state @ W_a.t()).unsqueeze(1) + h) @ v_a
    alpha = torch.softmax(e.masked_fill(padding_mask, torch.finfo(e.dtype).min), dim=1)
    return (alpha.unsqueeze(2) * annotations).sum(dim=1), alpha


def packed_attend(
    state: Tensor, memory: Memory, weights: AttentionWeights, products: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Computes :func:`attend` in PyTorch."""
    return step_attention(state, memory, weights.to(products))


def step_attention(
    state: Tensor, memory: Memory, weights: AttentionWeights | AttentiveGRUWeights
) -> tuple[Tensor, Tensor]:
    """The context (n, D) and the attention (n, S) for the states (n, H), with products in the query weight's dtype."""
    keys, values, padding_mask = (tensor[: state.size(0)] for tensor in memory)
    # The hypotheses of a source are adjacent, and read it without a copy: (b, beam, …).
    grouped = state.view(keys.size(0), -1, state.size(1))
    if weights.query is None or weights.score is None:
        energy = torch.bmm(grouped, keys.transpose(1, 2))
    else:
        queries = project_query(state, weights.query).view(*grouped.shape[:2], -1)
        energy = _AdditiveEnergy.apply(queries, keys, weights.score)
    energy.masked_fill_(padding_mask.unsqueeze(1), torch.finfo(energy.dtype).min)
    attention = torch.softmax(energy, dim=2)
    return torch.bmm(attention, values).flatten(0, 1), attention.flatten(0, 1)


class _AdditiveEnergy(torch.autograd.Function):
    """The energy v_a · tanh(q + k) (b, T, S) of queries (b, T, A) and keys (b, S, A), some sentences at a time.

    The tanh, (b, T, S, A) numbers, is computed once more for the gradient.
    """

    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, score: Tensor) -> Tensor:
        ctx.save_for_backward(queries, keys, score)
        sums = [_sums(queries, keys, piece).tanh_() @ score for piece in _sentences(queries, keys)]
        return joined(sums)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        queries, keys, score = ctx.saved_tensors
        grad_queries, grad_keys, grad_score = torch.empty_like(queries), torch.empty_like(keys), torch.zeros_like(score)
        for piece in _sentences(queries, keys):
            tanh = _sums(queries, keys, piece).tanh_()
            grad_score += grad[piece].flatten() @ tanh.flatten(0, 2)
            slope = torch.ops.aten.tanh_backward(grad[piece].unsqueeze(3) * score, tanh)
            torch.sum(slope, dim=2, out=grad_queries[piece])
            torch.sum(slope, dim=1, out=grad_keys[piece])
        return grad_queries, grad_keys, grad_score


def _sums(queries: Tensor, keys: Tensor, piece: slice) -> Tensor:
    """Each query with each key, (p, T, S, A)."""
    return keys[piece].unsqueeze(1) + queries[piece].unsqueeze(2)


def _sentences(queries: Tensor, keys: Tensor) -> list[slice]:
    return pieces(keys.size(0), queries.size(1) * keys.size(1) * keys.size(2), keys)


def project_query(state: Tensor, weight: Tensor) -> Tensor:
    """W_a s (n, A) of the states (n, H)."""
    return product(state, weight.t()).to(state.dtype)


def needs_gradients(state: Tensor, memory: Memory, weights: AttentionWeights) -> bool:
    """Whether this is a training, which of :func:`attend` only ``packed`` knows, and no search."""
    read = (state, *memory, weights.query, weights.score)
    return torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in read)


def native_attend(
    state: Tensor, memory: Memory, weights: AttentionWeights, products: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Computes :func:`attend` in C++, ``native/attention.cpp``; with gradients, as ``packed``."""
    if needs_gradients(state, memory, weights):
        return packed_attend(state, memory, weights, products)
    return torch.ops.recurrent_mt.attend(state, *memory, weights.query, weights.score, products)


ATTEND = Operation(
    "attend",
    reference=reference_attend,
    packed=packed_attend,
    native=native_attend,
    fused=in_triton("triton_attention", "fused_attend"),
)


def attend_sentences(
    queries: Tensor, packing: Packing, memory: Memory, weights: AttentionWeights
) -> tuple[Tensor, Tensor]:
    """What all positions read where no query depends on what another has found: (N, D), and without gradient (N, S).

    Args:
        queries: (N, H) packed rows, for each position what :func:`attend` takes as a state.
        packing: of the queries.
        memory: of as many sources as there are sentences, in the order of the batch.
        weights: as in :func:`attend`.

    Raises:
        ValueError: if the shapes do not fit together, if there are no words or nothing of them, or if an implementation
            is asked for that cannot run here.
    """
    _check_sentences(queries, packing, memory, weights)
    call = ATTEND_SENTENCES.call(queries if weights.score is None else weights.score)
    with call.outside_autocast:
        contexts, attention = call.run(queries.to(call.states), packing, memory.to(call.states), weights, call.products)
    return contexts, attention.detach()


def _check_sentences(queries: Tensor, packing: Packing, memory: Memory, weights: AttentionWeights) -> None:
    batch, words, size = memory.keys.shape
    fits = queries.size(0) == packing.rows.numel() and batch == packing.sorted_indices.numel()
    fits = fits and memory.values.shape[:2] == memory.padding_mask.shape == (batch, words)
    empty = 0 in (words, size, memory.values.size(2))
    if not fits or empty or (weights.score is None and queries.size(1) != size):
        raise ValueError(
            f"queries {tuple(queries.shape)} of {packing.rows.numel()} words in {packing.sorted_indices.numel()} "
            f"sentences do not fit to keys {tuple(memory.keys.shape)}, values {tuple(memory.values.shape)}, and "
            f"padding_mask {tuple(memory.padding_mask.shape)}"
        )


def _as_steps(attend: Callable[..., tuple[Tensor, Tensor]]) -> Callable[..., tuple[Tensor, Tensor]]:
    """:func:`attend_sentences` by one :func:`attend` of a padded batch, whose states are all positions."""

    def run(queries: Tensor, packing: Packing, *rest: Any) -> tuple[Tensor, Tensor]:
        context, attention = attend(packing.unpack(queries).flatten(0, 1), *rest)
        return context.index_select(0, packing.rows), attention.index_select(0, packing.rows)

    return run


class _AttendSentences(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, queries: Tensor, packing: Packing, *memory: Tensor) -> tuple[Tensor, Tensor]:
        attend = torch.ops.recurrent_mt.attend_sentences
        contexts, attention = attend(queries, *memory, packing.rows, packing.width)
        ctx.save_for_backward(queries, *memory, packing.rows, attention)
        ctx.width = packing.width
        ctx.mark_non_differentiable(attention)
        return contexts, attention

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_contexts: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        *read, attention = ctx.saved_tensors
        grad = torch.ops.recurrent_mt.attend_sentences_backward(grad_contexts, *read, ctx.width, attention)
        grad_queries, grad_keys, grad_values = grad
        return grad_queries, None, grad_keys, grad_values, None


def native_attend_sentences(
    queries: Tensor, packing: Packing, memory: Memory, weights: AttentionWeights, products: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Computes :func:`attend_sentences` in C++, ``native/sentence_attention.cpp``; additive attention as ``packed``."""
    if weights.score is not None:
        return _as_steps(native_attend)(queries, packing, memory, weights, products)
    return _AttendSentences.apply(queries, packing, *memory)


ATTEND_SENTENCES = Operation(
    "attend_sentences",
    reference=_as_steps(reference_attend),
    packed=_as_steps(packed_attend),
    native=native_attend_sentences,
    fused=_as_steps(in_triton("triton_attention", "fused_attend")),
)


class StepAttention:
    """The attention of a step, forward and backward; other implementations override it."""

    def attend(
        self, state: Tensor, memory: Memory, weights: AttentionWeights | AttentiveGRUWeights
    ) -> tuple[Tensor, Tensor]:
        return step_attention(state, memory, weights)

    def backward(self, memory: Memory, weights: AttentiveGRUWeights, attention: Tensor) -> AttentionBackward:
        """What collects its gradients, from the last step to the first."""
        return AttentionBackward(memory, weights, attention)


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

    def finish(self, states: Tensor, batch_sizes: Sequence[int]) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """The gradients of keys, query weight and score vector; ``states`` (N, H) were the queries."""
        query, score = self.weights.query, self.weights.score
        if query is None or score is None:
            return outer_products(self.grad_energy, states, batch_sizes, self.memory.keys), None, None
        grad_weight = product(self.grad_queries.t(), states.to(query.dtype))
        return self.grad_keys.mul_(score), grad_weight, self.grad_score


def outer_products(left: Tensor, right: Tensor, batch_sizes: Sequence[int], like: Tensor) -> Tensor:
    """For each sentence, the sum over its rows of left ⊗ right: (N, X), (N, Y) → (B, X, Y)."""
    product = torch.bmm(by_sentence(left, batch_sizes).transpose(1, 2), by_sentence(right, batch_sizes))
    if batch_sizes[0] == like.size(0):
        return product
    return torch.cat([product, torch.zeros_like(like[batch_sizes[0] :])])


def by_sentence(rows: Tensor, batch_sizes: Sequence[int]) -> Tensor:
    """Packed rows (N, …) as sentences in packed order (B, T, …), with zeros after a sentence's end."""
    padded = rows.new_zeros(batch_sizes[0], len(batch_sizes), *rows.shape[1:])
    for position, part in enumerate(rows.split(list(batch_sizes))):
        padded[: part.size(0), position] = part
    return padded
