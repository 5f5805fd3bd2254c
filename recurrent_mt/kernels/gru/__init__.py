"""The gated recurrent unit of Cho et al. (2014) over a packed batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from ..backend import choose, resolve
from ..matrix import Matrix, check_shape, precision
from . import backends, reference

BACKENDS: dict[str, Callable[..., Tensor]] = {
    "reference": reference.gru,
    "packed": backends.packed_gru,
    "native": backends.native_gru,
    "fused": backends.fused_gru,
}


def gru(
    inputs: Tensor,
    initial: Tensor,
    gate_weight: Tensor | Matrix,
    candidate_weight: Tensor | Matrix,
    *,
    counts: Sequence[int],
    backend: str = "packed",
) -> Tensor:
    """Runs a GRU over packed rows.

    With h the previous state, r the reset gate, and z the update gate (z keeps the old state)::

        [r z] = σ(x_rz + U_rz h)    h̃ = tanh(x_h + U (r ⊙ h))    h' = z ⊙ h + (1 − z) ⊙ h̃

    Cho et al. (2014), "Learning Phrase Representations using RNN Encoder–Decoder", eqs. (5)–(8). The reset gate acts
    before the recurrent product; ``torch.nn.GRU`` applies it after, which is a different function.

    Args:
        inputs: (N, 3H) the inputs' products with their weights, biases included, for [reset, update, candidate].
        initial: (B, H) the first states, in packed order.
        gate_weight: (2H, H) U_r above U_z, whole or a product of two matrices.
        candidate_weight: (H, H) U, the same way.
        counts: sentences running at each position, as in :class:`~recurrent_mt.kernels.packing.Packing`.
        backend: ``native`` (C++, on a CPU), ``packed``, ``reference``, ``fused`` (Triton, on a GPU), or ``auto``, see
            :func:`recurrent_mt.kernels.backend.resolve`.

    Returns:
        (N, H) the states, in the weights' number format; see :mod:`recurrent_mt.kernels.matrix`.

    Raises:
        ValueError: if the shapes do not fit together, or if the backend is unknown or cannot run here.
    """
    size = initial.size(1)
    gate = check_shape("gates' recurrent", gate_weight, (2 * size, size))
    candidate = check_shape("candidate's recurrent", candidate_weight, (size, size))
    if inputs.shape != (sum(counts), 3 * size):
        raise ValueError(f"inputs must be {(sum(counts), 3 * size)}, not {tuple(inputs.shape)}")
    if not counts:
        return inputs.new_zeros(0, size)
    if counts[0] > initial.size(0):
        raise ValueError(f"{counts[0]} sentences start, but there are {initial.size(0)} initial states")
    backend = resolve(backend, gate.left)
    states, products, outside_autocast = precision(gate.left, backend)
    with outside_autocast:
        inputs, initial = inputs.to(states), initial.to(states)
        if backend == "native":  # narrows weights while it copies them
            return backends.native_gru(inputs, initial, gate, candidate, counts, products=products)
        gate, candidate = gate.to(products), candidate.to(products)
        return choose("gru", backend, BACKENDS)(inputs, initial, gate, candidate, counts)
