"""The decoder recurrence of Bahdanau et al. (2015) over a packed batch: attend, then update."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from ..backend import choose, resolve
from ..matrix import as_matrix, check_shape, precision
from . import backends, reference
from .interface import AttentiveGRUWeights, Memory

__all__ = ["BACKENDS", "AttentiveGRUWeights", "Memory", "attend", "attentive_gru"]

BACKENDS: dict[str, Callable[..., tuple[Tensor, Tensor, Tensor]]] = {
    "reference": reference.attentive_gru,
    "packed": backends.packed_attentive_gru,
    "native": backends.native_attentive_gru,
    "fused": backends.fused_attentive_gru,
}
_ATTEND: dict[str, Callable[..., tuple[Tensor, Tensor]]] = {
    "reference": reference.attend,
    "packed": backends.packed_attend,
    "native": backends.native_attend,
    "fused": backends.fused_attend,
}


def attend(
    state: Tensor, memory: Memory, weights: AttentiveGRUWeights, *, backend: str = "packed"
) -> tuple[Tensor, Tensor]:
    """What a step reads: the context (n, D) and the attention (n, S) for the states (n, H) that enter it.

    Args:
        state: (n, H).
        memory: as in :func:`attentive_gru`.
        weights: only those of the attention are used.
        backend: as in :func:`attentive_gru`.

    Raises:
        ValueError: if the backend is unknown or cannot run here.
    """
    like = state if weights.score is None else weights.score
    backend = resolve(backend, like)
    states, products, outside_autocast = precision(like, backend)
    with outside_autocast:
        state, memory = state.to(states), memory.to(states)
        if backend == "native":  # narrows weights while it copies them
            return backends.native_attend(state, memory, weights, products=products)
        weights = weights._replace(query=None if weights.query is None else weights.query.to(products))
        return choose("attend", backend, _ATTEND)(state, memory, weights)


def attentive_gru(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    *,
    counts: Sequence[int],
    backend: str = "packed",
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
        counts: targets running at each position, as in :class:`~recurrent_mt.kernels.packing.Packing`.
        backend: ``native`` (C++, on a CPU), ``packed``, ``reference``, ``fused`` (Triton, on a GPU), or ``auto``, see
            :func:`recurrent_mt.kernels.backend.resolve`.

    Returns:
        The states s' (N, H), the contexts c (N, D) and the attention α (N, S), in the weights' number format, see
        :mod:`recurrent_mt.kernels.matrix`. The attention carries no gradient.

    Raises:
        ValueError: if the shapes do not fit together, or if the backend is unknown or cannot run here.
    """
    size = _check(inputs, initial, memory, weights, counts=counts)
    if not counts:
        sizes = size, memory.values.size(2), memory.keys.size(1)
        no_states, no_contexts, no_attention = (inputs.new_zeros(0, columns) for columns in sizes)
        return no_states, no_contexts, no_attention
    gate = as_matrix(weights.gate).left
    backend = resolve(backend, gate)
    states, products, outside_autocast = precision(gate, backend)
    with outside_autocast:
        inputs, initial, memory = inputs.to(states), initial.to(states), memory.to(states)
        if backend == "native":  # narrows weights while it copies them
            return backends.native_attentive_gru(inputs, initial, memory, weights, counts, products=products)
        run = choose("attentive_gru", backend, BACKENDS)
        return run(inputs, initial, memory, weights.to(products), counts)


def _check(
    inputs: Tensor,
    initial: Tensor,
    memory: Memory,
    weights: AttentiveGRUWeights,
    *,
    counts: Sequence[int],
) -> int:
    """The width H of the states, if all shapes fit together."""
    size, width = initial.size(1), memory.keys.size(2)
    shapes = {"gate": (2 * size, size), "candidate": (size, size), "context": (3 * size, memory.values.size(2))}
    for name, shape in shapes.items():
        check_shape(name, getattr(weights, name), shape)
    if inputs.shape != (sum(counts), 3 * size):
        raise ValueError(f"inputs must be {(sum(counts), 3 * size)}, not {tuple(inputs.shape)}")
    if (weights.query is None) != (weights.score is None):
        raise ValueError(
            "additive attention needs both a query weight and a score vector; the dot product needs neither"
        )
    if weights.score is None and width != size:
        raise ValueError(f"the dot product of states of width {size} and keys of width {width} does not exist")
    return size
