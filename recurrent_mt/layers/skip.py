"""What a recurrent layer may have besides its equations: connections that bypass it, and a norm of its output."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .projection import projection


class InputSkip(nn.Module):
    """Adds a layer's input to its output: h + x, or h + W x if the widths differ.

    Wu et al. (2016), "Google's Neural Machine Translation System", section 3.1, between stacked recurrent layers; the
    projection, without a bias, comes from He et al. (2016), "Deep Residual Learning", eq. (2).

    Args:
        input_size: E.
        output_size: H.
    """

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.projection = None
        if input_size != output_size:
            self.projection = projection(input_size, output_size, bias=False)

    def forward(self, outputs: Tensor, inputs: Tensor) -> Tensor:
        """The sum (…, H) of outputs (…, H) and inputs (…, E)."""
        return outputs + (inputs if self.projection is None else self.projection(inputs))


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
        """The K states before the start (B, K, H), all of them the initial state (B, H)."""
        return initial.unsqueeze(1).expand(-1, self.span, -1)


class LayerOutput(nn.Module):
    """From a layer's state to its output: the state itself, or LN(h + W x), where either part may be off.

    The state that the layer carries from step to step is still the bare h.

    Args:
        input_size: E.
        hidden_size: H.
        skip: whether the layer's input is added; see :class:`InputSkip`.
        norm: whether the sum is normalized (Ba et al. 2016, "Layer Normalization"; they normalize inside the cell;
            here, only the output is normalized).
    """

    def __init__(self, input_size: int, hidden_size: int, *, skip: bool, norm: bool) -> None:
        super().__init__()
        self.skip = InputSkip(input_size, hidden_size) if skip else None
        self.norm = nn.LayerNorm(hidden_size) if norm else None

    def forward(self, states: Tensor, inputs: Tensor | None) -> Tensor:
        """The outputs (N, H).

        Args:
            states: (N, H).
            inputs: (N, E) the inputs that the states came from; None for a state before the first input.
        """
        outputs = states
        if self.skip is not None and inputs is not None:
            outputs = self.skip(outputs, inputs)
        return outputs if self.norm is None else self.norm(outputs)
