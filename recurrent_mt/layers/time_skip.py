"""A skip over time steps: the state that enters a step of a GRU layer is partly one from several steps before."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class TimeSkip(nn.Module):
    """The state that enters a step is partly the one from K steps before: g ⊙ h_{t−1} + (1 − g) ⊙ h_{t−K}.

    Zhang et al. (2016), "Architectural Complexity Measures of Recurrent Neural Networks", add such a connection; here,
    a gate, learned for each unit and the same at all times, chooses between the two and starts at 0.95, close to no
    skip. States before the start are the initial state.

    Args:
        size: H.
        span: K.

    Raises:
        ValueError: if K is less than 2.
    """

    START = 3.0

    def __init__(self, size: int, span: int) -> None:
        super().__init__()
        if span < 2:
            raise ValueError(f"--skip-time must be 0 (off), or 2 steps or more, not {span}")
        self.span = span
        self.bias = nn.Parameter(torch.full((size,), self.START))

    def gate(self) -> Tensor:
        """Returns the gate g (H,), between 0 and 1."""
        return self.bias.sigmoid()

    def forward(self, history: Tensor) -> Tensor:
        """What enters the next step (B, H), after the last K states (B, K, H), oldest first."""
        return torch.lerp(history[:, 0], history[:, -1], self.gate())

    def history(self, initial: Tensor) -> Tensor:
        """The K states before a step (B, K, H), oldest first: as given, or all of them the initial state (B, H)."""
        return initial if initial.dim() == 3 else initial.unsqueeze(1).expand(-1, self.span, -1)


def last_states(states: Tensor, initial: Tensor, batch_sizes: Sequence[int]) -> Tensor:
    """Each sentence's last K of packed states (N, H), oldest first: (B, K, H), in packed order as ``initial`` is.

    They reach back into ``initial`` (B, K, H) if the sentence is short.
    """
    batch, span = initial.shape[:2]
    sizes = torch.tensor([batch] * span + list(batch_sizes))
    sentence = torch.arange(batch)
    lengths = (sentence[:, None] < sizes[span:]).sum(dim=1)
    slots = lengths[:, None] + torch.arange(span)
    rows = (sizes.cumsum(0) - sizes)[slots] + sentence[:, None]
    timeline = torch.cat([initial.transpose(0, 1).flatten(0, 1), states])
    return timeline[rows.to(states.device)]
