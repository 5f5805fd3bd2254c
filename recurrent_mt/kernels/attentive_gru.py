"""The decoder recurrence of Bahdanau et al. (2015) over a packed batch: attend, then update.

What a loop under autograd would do at every step is done once, after the loop: the gradients of all weights, of the
values, and, for the dot product, of the keys are one product each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from .attention import AttentiveGRUWeights, Memory, StepAttention, outer_products, reference_attend
from .dispatch import Operation, in_triton
from .graphs import Run, directly, rectangle, replayed, rounded
from .gru import EAGER, Elementwise, StateGradients, joined, step, step_backward
from .matrix import Matrix, as_matrix, check_shape
from .packing import previous_rows


def attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    *,
    batch_sizes: Sequence[int],
) -> tuple[Tensor, Tensor, Tensor]:
    """Runs a GRU over packed rows whose every step first reads a context from the memory.

    With s the previous state, h_j the annotations, and k_j their keys::

        e_j = v_a · tanh(W_a s + k_j)  or  s · k_j        α = softmax(e)        c = Σ_j α_j h_j
        [r z] = σ(x_rz + U_rz s + C_rz c)    s̃ = tanh(x_s + U (r ⊙ s) + C c)    s' = z ⊙ s + (1 − z) ⊙ s̃

    Additive scores: Bahdanau et al. (2015), "Neural Machine Translation by Jointly Learning to Align and Translate",
    A.1.2 and A.2.2, where k_j = U_a h_j. Dot-product scores: Luong et al. (2015), eq. (8), where k_j = h_j ("dot") or
    a projection of it ("general"), but with the state before the update as the query. z keeps the old state.

    Args:
        inputs: (N, 3H) the inputs' products with their weights, biases included, for [reset, update, candidate].
        initial: (B, H) the first states, in packed order.
        memory: at least as many sources as targets, in packed order.
        weights: with ``score`` None, attention is the dot product.
        batch_sizes: targets running at each position, as in :class:`~recurrent_mt.kernels.packing.Packing`.

    Returns:
        The states s' (N, H), the contexts c (N, D) and the attention α (N, S), in the weights' dtype, see
        :class:`recurrent_mt.kernels.dispatch.Call`. The attention carries no gradient.

    Raises:
        ValueError: if the shapes do not fit together, or if an implementation is asked for that cannot run here.
    """
    size = _check(inputs, initial, memory, weights, batch_sizes=batch_sizes)
    if not batch_sizes:
        sizes = size, memory.values.size(2), memory.keys.size(1)
        no_states, no_contexts, no_attention = (inputs.new_zeros(0, columns) for columns in sizes)
        return no_states, no_contexts, no_attention
    call = ATTENTIVE_GRU.call(as_matrix(weights.gate).left)
    with call.outside_autocast:
        inputs, initial, memory = inputs.to(call.states), initial.to(call.states), memory.to(call.states)
        return call.run(inputs, initial, memory, weights, tuple(batch_sizes), call.products)


def _check(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    *,
    batch_sizes: Sequence[int],
) -> int:
    """The width H of the states, if all shapes fit together."""
    size, width = initial.size(1), memory.keys.size(2)
    shapes = {"gate": (2 * size, size), "candidate": (size, size), "context": (3 * size, memory.values.size(2))}
    for name, shape in shapes.items():
        check_shape(name, getattr(weights, name), shape)
    if inputs.shape != (sum(batch_sizes), 3 * size):
        raise ValueError(f"inputs must be {(sum(batch_sizes), 3 * size)}, not {tuple(inputs.shape)}")
    started = batch_sizes[0] if batch_sizes else 0
    sources = memory.keys.size(0)
    if min(initial.size(0), sources) < started:
        raise ValueError(
            f"{started} sentences start, but there are {initial.size(0)} initial states and {sources} sources"
        )
    memory.check(started)
    if (weights.query is None) != (weights.score is None):
        raise ValueError(
            "additive attention needs both a query weight and a score vector; the dot product needs neither"
        )
    if weights.score is None and width != size:
        raise ValueError(f"the dot product of states of width {size} and keys of width {width} does not exist")
    return size


def reference_attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    batch_sizes: Sequence[int],
    products: torch.dtype,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes :func:`attentive_gru` as a loop over the equations."""
    U_rz, U, C = (matrix.whole() for matrix in weights.matrices())
    size, s = U.size(0), initial
    states, contexts, alphas = [], [], []
    for x in inputs.split(list(batch_sizes)):
        s = s[: x.size(0)]
        c, alpha = reference_attend(s, memory, weights, products)
        x = x + c @ C.t()
        r, z = torch.sigmoid(x[:, : 2 * size] + s @ U_rz.t()).chunk(2, dim=1)
        candidate = torch.tanh(x[:, 2 * size :] + (r * s) @ U.t())
        s = z * s + (1 - z) * candidate
        states.append(s)
        contexts.append(c)
        alphas.append(alpha)
    return torch.cat(states), torch.cat(contexts), torch.cat(alphas).detach()


class Parts(NamedTuple):
    """What a step does besides the matrix products of its recurrence."""

    elementwise: Elementwise  # what happens between the products
    attention: StepAttention  # what happens before them


PACKED = Parts(EAGER, StepAttention())


def packed_attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    batch_sizes: Sequence[int],
    products: torch.dtype,
    parts: Parts = PACKED,
    run: Run = directly,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes :func:`attentive_gru` in PyTorch, on packed rows.

    ``parts`` is what a step does besides products, and ``run`` calls what loops over the steps.
    """
    constants = tuple(batch_sizes), parts
    return _AttentiveGRU.apply(
        lambda *tensors: run(_forward, tensors, *constants),
        lambda *tensors: run(_backward, tensors, *constants),
        *_flat(inputs, initial, memory, weights.to(products)),
    )


def _flat(inputs: Tensor, initial: Tensor, memory: Memory, weights: AttentiveGRUWeights) -> tuple[Tensor | None, ...]:
    """What the operation is given, one tensor after the other, as autograd and graphs see it."""
    factors = [factor for matrix in weights.matrices() for factor in matrix]
    return inputs, initial, *memory, *factors, weights.query, weights.score


GIVEN = 13
"""How many tensors :func:`_flat` returns."""


def _grouped(given: Sequence[Any]) -> tuple[Tensor, Tensor, Memory, AttentiveGRUWeights]:
    """The inverse of :func:`_flat`."""
    inputs, initial, keys, values, padding_mask, *factors, query, score = given
    gate, candidate, context = map(Matrix, factors[::2], factors[1::2])
    weights = AttentiveGRUWeights(gate, candidate, context, query, score)
    return inputs, initial, Memory(keys, values, padding_mask), weights


class _Made(NamedTuple):
    """What the forward pass has made: what it returns, and what the backward pass needs besides."""

    states: Tensor
    contexts: Tensor
    attention: Tensor
    gates: Tensor
    candidates: Tensor
    reset_previous: Tensor


class _AttentiveGRU(torch.autograd.Function):
    """The operation in an implementation that has a backward pass of its own.

    ``forward`` returns states, contexts, attention and whatever ``backward`` takes after what it was given.
    """

    @staticmethod
    def forward(
        ctx: Any, forward: Callable[..., Any], backward: Callable[..., Any], *tensors: Tensor | None
    ) -> tuple[Tensor, ...]:
        states, contexts, attention, *kept = forward(*tensors)
        # The inputs are needed no more.
        ctx.save_for_backward(None, *tensors[1:], states, contexts, attention, *kept)
        ctx.differentiate = backward
        ctx.mark_non_differentiable(attention)
        return states, contexts, attention

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, grad_contexts: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        with torch.autocast(grad_states.device.type, enabled=False):
            return None, None, *ctx.differentiate(grad_states, grad_contexts, *ctx.saved_tensors)


def _forward(*given: Any) -> _Made:
    *tensors, batch_sizes, parts = given
    inputs, state, memory, weights = _grouped(tensors)
    weights = weights.for_steps(len(batch_sizes))
    gate, candidate, context_weight = weights.matrices()
    made, contexts, attentions = [], [], []
    for x in inputs.split(batch_sizes):
        state = state[: x.size(0)]
        context, attention = parts.attention.attend(state, memory, weights)
        made.append(step(context_weight.add_to(x, context), state, gate, candidate, parts.elementwise))
        state = made[-1][0]
        contexts.append(context)
        attentions.append(attention)
    states, *kept = map(joined, zip(*made))
    return _Made(states, joined(contexts), joined(attentions), *kept)


def _backward(grad_states: Tensor, grad_contexts: Tensor, *saved: Any) -> tuple[Tensor | None, ...]:
    """The gradients of the tensors that :func:`_forward` was given."""
    *tensors, batch_sizes, parts = saved
    (_, initial, memory, weights), made = _grouped(tensors[:GIVEN]), _Made(*tensors[GIVEN:])
    gate, candidate, context_weight = weights.matrices()
    size = made.states.size(1)
    previous = previous_rows(made.states, initial, batch_sizes)
    grads = StateGradients(grad_states, initial, batch_sizes)
    attention_backward = parts.attention.backward(memory, weights, made.attention)
    grad_inputs = grad_states.new_empty(made.states.size(0), 3 * size)
    grad_contexts = grad_contexts.clone()
    stop = made.states.size(0)
    for position, count in reversed(list(enumerate(batch_sizes))):
        rows = slice(stop - count, stop)
        stop -= count
        grad_inputs[rows], grad_previous = step_backward(
            grads.after[position],
            previous[rows],
            made.gates[rows],
            made.candidates[rows],
            gate_weight=gate,
            candidate_weight=candidate,
            elementwise=parts.elementwise,
        )
        context_weight.add_backward_(grad_contexts[rows], grad_inputs[rows])
        grad_query_state = attention_backward.step(grad_contexts[rows], previous[rows], rows)
        grads.add(position, grad_query_state.add_(grad_previous))
    grad_keys, grad_query, grad_score = attention_backward.finish(previous, batch_sizes)
    return (
        grad_inputs,
        grads.initial,
        grad_keys,
        outer_products(made.attention, grad_contexts, batch_sizes, memory.values),
        None,
        *gate.gradients(grad_inputs[:, : 2 * size], previous),
        *candidate.gradients(grad_inputs[:, 2 * size :], made.reset_previous),
        *context_weight.gradients(grad_inputs, made.contexts),
        grad_query,
        grad_score,
    )


def native_attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    batch_sizes: Sequence[int],
    products: torch.dtype,
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes :func:`attentive_gru` in C++, ``native/attentive_gru.cpp``, which narrows weights as it copies them."""
    native, constants = torch.ops.recurrent_mt, (products, batch_sizes)

    # C++ takes the six factors of the weights in a list.
    def forward(*given: Any) -> tuple[Tensor, ...]:
        inputs, initial, keys, values, padding_mask, *factors, query, score = given
        return native.attentive_gru(inputs, initial, keys, values, padding_mask, factors, query, score, *constants)

    def backward(grad_states: Tensor, grad_contexts: Tensor, *saved: Any) -> tuple[Tensor | None, ...]:
        _, initial, keys, values, padding_mask, *factors, query, score = saved[:GIVEN]
        given, made = (initial, keys, values, padding_mask, factors, query, score), saved[GIVEN:]
        grad_inputs, grad_initial, grad_keys, grad_contexts, *grads, grad_energies, entered = (
            native.attentive_gru_backward(grad_states, grad_contexts, *given, *made, *constants)
        )
        if grad_keys is None:
            grad_keys = outer_products(grad_energies, entered, batch_sizes, keys)
        grad_values = outer_products(made[2], grad_contexts, batch_sizes, values)
        return grad_inputs, grad_initial, grad_keys, grad_values, None, *grads

    return _AttentiveGRU.apply(forward, backward, *_flat(inputs, initial[: batch_sizes[0]], memory, weights))


def recorded_attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    batch_sizes: Sequence[int],
    products: torch.dtype,
    parts: Parts = PACKED,
) -> tuple[Tensor, Tensor, Tensor]:
    """:func:`packed_attentive_gru` in CUDA graphs, for as many sources as targets."""
    around = rectangle(tuple(batch_sizes), initial.size(0), inputs.device)
    width = rounded(memory.keys.size(1), least=4)
    given = around.spread(inputs), around.extend(initial), _extended(memory, around.sentences, width), weights
    made = packed_attentive_gru(*given, around.batch_sizes, products, parts, replayed)
    states, contexts, attention = map(around.gather, made)
    return states, contexts, attention[:, : memory.keys.size(1)]


def _extended(memory: Memory, sources: int, width: int) -> Memory:
    """The memory with padding at the end of each source, and more sources of padding."""
    more = 0, width - memory.keys.size(1), 0, sources - memory.keys.size(0)
    keys, values = (F.pad(tensor, (0, 0, *more)) for tensor in memory[:2])
    return Memory(keys, values, F.pad(memory.padding_mask, more, value=True))


ATTENTIVE_GRU = Operation(
    "attentive_gru",
    reference=reference_attentive_gru,
    packed=packed_attentive_gru,
    native=native_attentive_gru,
    fused=in_triton("triton_attention", "fused_attentive_gru"),
)
