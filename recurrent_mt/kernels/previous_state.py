"""The previous state, as a step of a recurrence reads it: the last one, or a mix of it and an earlier one.

With a skip over K time steps and a gate g, a number between 0 and 1 for each unit, step t reads::

    p_t = g ⊙ h_{t−1} + (1 − g) ⊙ h_{t−K}

Without a gate, p_t is h_{t−1}. States are kept in a timeline: those before the first step, oldest first, then one entry
per step. With a gate, (B, K, H) states precede the first step; without one, a single (B, H).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .packing import previous_rows


def initial_timeline(initial: Tensor, gate: Tensor | None) -> list[Tensor]:
    """Returns the states (B, H) before the first step, oldest first.

    Args:
        initial: (B, H), or (B, K, H) with a gate.
        gate: (H,) g, or None.
    """
    return [initial] if gate is None else list(initial.unbind(1))


def previous_state(timeline: Sequence[Tensor], count: int, gate: Tensor | None, span: int) -> Tensor:
    """Returns p (count, H) of the next step.

    Args:
        timeline: all states so far.
        count: sentences still running.
        gate: (H,) g, or None.
        span: K; 1 without a gate.
    """
    recent = timeline[-1][:count]
    return recent if gate is None else torch.lerp(timeline[-span][:count], recent, gate)


def check_initial(initial: Tensor, gate: Tensor | None) -> int:
    """Checks the first states and returns their width H.

    Raises:
        ValueError: if the first states are not (B, H), or (B, K, H) with K > 1 and a gate (H,).
    """
    shape, size = tuple(initial.shape), initial.size(-1)
    if gate is None:
        if len(shape) != 2:
            raise ValueError(f"without a gate over time the initial states must be (B, H), not {shape}")
    elif len(shape) != 3 or shape[1] < 2 or gate.shape != (size,):
        raise ValueError(
            f"a gate over time of shape (H,) needs initial states (B, K, H) with K > 1, "
            f"not {tuple(gate.shape)} and {shape}"
        )
    return size


def last_states(states: Tensor, initial: Tensor, counts: Sequence[int]) -> Tensor:
    """Each sentence's last K states, oldest first, reaching back into ``initial`` if the sentence is short.

    Args:
        states: (N, H) packed.
        initial: (B, K, H) in packed order.
        counts: as in :class:`~recurrent_mt.kernels.packing.Packing`.

    Returns:
        (B, K, H) in packed order.
    """
    batch, span = initial.shape[:2]
    sizes = torch.tensor([batch] * span + list(counts))
    sentence = torch.arange(batch)
    lengths = (sentence[:, None] < sizes[span:]).sum(dim=1)
    slots = lengths[:, None] + torch.arange(span)
    rows = (sizes.cumsum(0) - sizes)[slots] + sentence[:, None]
    timeline = torch.cat([initial.transpose(0, 1).flatten(0, 1), states])
    return timeline[rows.to(states.device)]


class PreviousStateBackward:
    """Goes back through a packed recurrence and collects the gradients of its states.

    Args:
        grad_states: (N, H) the gradients that reach the states from outside the recurrence.
        states: (N, H).
        initial: (B, H), or (B, K, H) with a gate.
        gate: (H,) g, or None.
        counts: as in :class:`~recurrent_mt.kernels.packing.Packing`.

    Attributes:
        rows: (N, H) p of each step.
    """

    def __init__(
        self, grad_states: Tensor, *, states: Tensor, initial: Tensor, gate: Tensor | None, counts: Sequence[int]
    ) -> None:
        first = initial_timeline(initial, gate)
        self._span = len(first)
        self._gate = gate
        self._grads = [*map(torch.zeros_like, first), *grad_states.clone().split(list(counts))]
        self.rows = previous_rows(states, first[-1], counts)
        if gate is not None:
            timeline = [*first, *states.split(list(counts))]
            earlier = torch.cat([state[:count] for state, count in zip(timeline, counts)])
            self._difference = self.rows - earlier
            self._grad_rows = torch.empty_like(states)
            self.rows = torch.lerp(earlier, self.rows, gate)

    def grad_state(self, position: int) -> Tensor:
        """Returns the gradient (n, H) of the state after the step at ``position``; later steps must have been added."""
        return self._grads[self._span + position]

    def add(self, position: int, rows: slice, grad: Tensor) -> None:
        """Passes on the gradient (n, H) of p at the step at ``position``, the packed ``rows``."""
        count = grad.size(0)
        if self._gate is None:
            self._grads[position][:count] += grad
            return
        self._grad_rows[rows] = grad
        recent = grad * self._gate
        self._grads[position + self._span - 1][:count] += recent
        self._grads[position][:count] += grad - recent

    def finish(self) -> tuple[Tensor, Tensor | None]:
        """The gradients of the initial states and of the gate."""
        if self._gate is None:
            return self._grads[0], None
        return torch.stack(self._grads[: self._span], dim=1), (self._grad_rows * self._difference).sum(dim=0)
