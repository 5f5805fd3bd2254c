"""The attentive GRU: ``packed`` with its own backward pass, ``native`` in C++, ``fused`` in Triton.

What a loop under autograd would do at every step is done once, after the loop: the gradients of all weights, of the
values, and, for the dot product, of the keys are one product each. The tanh of additive attention, B × S × A numbers
per step, is recomputed in the backward pass instead of being kept.

``native`` is ``../native/attentive_gru.cpp`` and ``../native/attention.cpp``; ``fused`` is ``packed`` with the
attention and everything between a step's matrix products in Triton, and all steps in a CUDA graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from ..backend import check_native, check_triton
from ..graphs import Run, directly, is_worthwhile, rectangle, replayed, rounded
from ..gru.backends import StateGradients, joined, step, step_backward
from ..gru.elementwise import EAGER, Elementwise
from ..matrix import Matrix
from ..packing import previous_rows
from .attention import StepAttention, outer_products, packed_attend
from .interface import AttentiveGRUWeights, Memory


def _weights(factors: Sequence[Any]) -> AttentiveGRUWeights:
    """The weights, from the eight tensors that autograd sees in their place."""
    return AttentiveGRUWeights(Matrix(*factors[:2]), Matrix(*factors[2:4]), Matrix(*factors[4:6]), *factors[6:8])


class Parts(NamedTuple):
    """What a step does besides the matrix products of its recurrence.

    Attributes:
        elementwise: what happens between the products.
        attention: what happens before them.
    """

    elementwise: Elementwise
    attention: StepAttention


PACKED = Parts(EAGER, StepAttention())


def packed_attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    counts: Sequence[int],
    *,
    parts: Parts | None = None,
    run: Run = directly,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attentive_gru.attentive_gru` in PyTorch, on packed rows.

    ``parts`` is what a step does besides products, and ``run`` calls what loops over the steps.
    """
    factors = [factor for matrix in weights.matrices() for factor in matrix]
    return _PackedAttentiveGRU.apply(
        inputs, initial, *memory, *factors, weights.query, weights.score, tuple(counts), parts or PACKED, run
    )


class _PackedAttentiveGRU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Tensor, ...]:
        *tensors, ctx.counts, ctx.parts, ctx.run = given
        states, contexts, attention, *kept = ctx.run(_forward, tuple(tensors), ctx.counts, ctx.parts)
        ctx.save_for_backward(*tensors[1:], states, contexts, attention, *kept)
        ctx.mark_non_differentiable(attention)
        return states, contexts, attention

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, grad_contexts: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        with torch.autocast(grad_states.device.type, enabled=False):
            grads = ctx.run(_backward, (grad_states, grad_contexts, *ctx.saved_tensors), ctx.counts, ctx.parts)
        return *grads, None, None, None


def _forward(inputs: Tensor, initial: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    """States, contexts, and attention, and what the backward pass needs besides: gates, candidates, and r ⊙ s."""
    counts, parts = rest[-2:]
    memory, weights = Memory(*rest[:3]), _weights(rest[3:11]).for_steps(len(counts))
    gate, candidate, context_weight = weights.matrices()
    state = initial
    saved, contexts, attentions = [], [], []
    for x in inputs.split(counts):
        state = state[: x.size(0)]
        context, attention = parts.attention.attend(state, memory, weights)
        saved.append(step(context_weight.add_to(x, context), state, gate, candidate, parts.elementwise))
        state = saved[-1][0]
        contexts.append(context)
        attentions.append(attention)
    states, *kept = map(joined, zip(*saved))
    return states, joined(contexts), joined(attentions), *kept


def _backward(grad_states: Tensor, grad_contexts: Tensor, initial: Tensor, *rest: Any) -> tuple[Tensor | None, ...]:
    """The gradients of the tensors that :func:`_forward` was given."""
    memory, weights, made = Memory(*rest[:3]), _weights(rest[3:11]), rest[11:]
    states, contexts, attention, gates, candidates, reset_previous, counts, parts = made
    gate, candidate, context_weight = weights.matrices()
    size = states.size(1)
    previous = previous_rows(states, initial, counts)
    grads = StateGradients(grad_states, initial, counts)
    attention_backward = parts.attention.backward(memory, weights, attention)
    grad_inputs = grad_states.new_empty(states.size(0), 3 * size)
    grad_contexts = grad_contexts.clone()
    stop = states.size(0)
    for position, count in reversed(list(enumerate(counts))):
        rows = slice(stop - count, stop)
        stop -= count
        grad_inputs[rows], grad_previous = step_backward(
            grads.after[position],
            previous[rows],
            gates[rows],
            candidates[rows],
            gate_weight=gate,
            candidate_weight=candidate,
            elementwise=parts.elementwise,
        )
        context_weight.add_backward_(grad_contexts[rows], grad_inputs[rows])
        grad_query_state = attention_backward.step(grad_contexts[rows], previous[rows], rows)
        grads.add(position, grad_query_state.add_(grad_previous))
    grad_keys, grad_query, grad_score = attention_backward.finish(previous, counts)
    return (
        grad_inputs,
        grads.initial,
        grad_keys,
        outer_products(attention, grad_contexts, counts, memory.values),
        None,
        *gate.gradients(grad_inputs[:, : 2 * size], previous),
        *candidate.gradients(grad_inputs[:, 2 * size :], reset_previous),
        *context_weight.gradients(grad_inputs, contexts),
        grad_query,
        grad_score,
    )


def native_attend(
    state: Tensor, memory: Memory, weights: AttentiveGRUWeights, *, products: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attentive_gru.attend` in C++.

    What needs gradients, which no search does, goes to ``packed``.

    ``products`` is the format of matrix products.
    """
    check_native("attend", state)
    read = (state, *memory, weights.query, weights.score)
    if torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in read):
        query = None if weights.query is None else weights.query.to(products)
        return packed_attend(state, memory, weights._replace(query=query))
    return torch.ops.recurrent_mt.attend(state, *memory, weights.query, weights.score, products)


def native_attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    counts: Sequence[int],
    *,
    products: torch.dtype,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attentive_gru.attentive_gru` in C++.

    ``products`` is the format of matrix products.
    """
    check_native("attentive_gru", inputs)
    factors = [factor for matrix in weights.matrices() for factor in matrix]
    tensors = *memory, *factors, weights.query, weights.score
    return _NativeAttentiveGRU.apply(inputs, initial[: counts[0]], *tensors, products, tuple(counts))


class _NativeAttentiveGRU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, *rest: Any) -> tuple[Tensor, ...]:
        *tensors, ctx.products, ctx.counts = rest
        outputs = torch.ops.recurrent_mt.attentive_gru(inputs, *_arguments(tensors), ctx.products, ctx.counts)
        ctx.save_for_backward(*tensors, *outputs)
        ctx.mark_non_differentiable(outputs[2])
        return outputs[:3]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, grad_contexts: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        tensors, outputs = ctx.saved_tensors[:-6], ctx.saved_tensors[-6:]
        arguments = _arguments(tensors)
        _, keys, values = arguments[:3]
        with torch.autocast("cpu", enabled=False):
            grad_inputs, grad_initial, grad_keys, grad_contexts, *grads, grad_energies, entered = (
                torch.ops.recurrent_mt.attentive_gru_backward(
                    grad_states, grad_contexts, *arguments, ctx.products, ctx.counts, list(outputs)
                )
            )
            if grad_keys is None:
                grad_keys = outer_products(grad_energies, entered, ctx.counts, keys)
            grad_values = outer_products(outputs[2], grad_contexts, ctx.counts, values)
        return grad_inputs, grad_initial, grad_keys, grad_values, None, *grads, None, None


def _arguments(tensors: Sequence[Tensor | None]) -> tuple[Any, ...]:
    """Initial states and memory; the six factors of the weights in a list; query and score."""
    return *tensors[:4], list(tensors[4:10]), *tensors[10:]


def fused_attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    counts: Sequence[int],
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attentive_gru.attentive_gru` with Triton kernels.

    If there are enough steps, they are in CUDA graphs.
    """
    check_triton("attentive_gru", inputs)
    from ..gru.triton_step import FUSED
    from .triton_attention import FUSED_ATTENTION

    # A recording has as many sources as targets.
    recorded = is_worthwhile(inputs, counts) and initial.size(0) == memory.keys.size(0)
    run = recorded_attentive_gru if recorded else packed_attentive_gru
    return run(inputs, initial, memory, weights, counts, parts=Parts(FUSED, FUSED_ATTENTION))


def recorded_attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    counts: Sequence[int],
    *,
    parts: Parts | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """:func:`packed_attentive_gru` in CUDA graphs, for as many sources as targets."""
    around = rectangle(tuple(counts), initial.size(0), inputs.device)
    width = rounded(memory.keys.size(1), least=4)
    given = around.spread(inputs), around.extend(initial), _extended(memory, around.sentences, width), weights
    made = packed_attentive_gru(*given, around.counts, parts=parts, run=replayed)
    states, contexts, attention = map(around.gather, made)
    return states, contexts, attention[:, : memory.keys.size(1)]


def _extended(memory: Memory, sources: int, width: int) -> Memory:
    """The memory with padding at the end of each source, and more sources of padding."""
    more = 0, width - memory.keys.size(1), 0, sources - memory.keys.size(0)
    keys, values = (F.pad(tensor, (0, 0, *more)) for tensor in memory[:2])
    return Memory(keys, values, F.pad(memory.padding_mask, more, value=True))


def fused_attend(state: Tensor, memory: Memory, weights: AttentiveGRUWeights) -> tuple[Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.attentive_gru.attend` with Triton kernels."""
    check_triton("attend", state)
    from .triton_attention import FUSED_ATTENTION

    return FUSED_ATTENTION.attend(state, memory, weights)
