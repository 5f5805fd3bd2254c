"""What a recurrent layer passes up, as opposed to what it carries through time."""

from __future__ import annotations

from torch import Tensor, nn

from .skip import InputSkip


class LayerOutput(nn.Module):
    """From a layer's state to its output: the state itself, or LN(h + W x), where either part may be off.

    The state that the layer carries from step to step is still the bare h.

    Args:
        input_size: E.
        hidden_size: H.
        skip: whether the layer's input is added; see :class:`~recurrent_mt.layers.skip.InputSkip`.
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
