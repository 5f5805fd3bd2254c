"""What a step of a GRU does between its matrix products."""

from __future__ import annotations

import torch
from torch import Tensor


class Elementwise:
    """What a step does between its matrix products, in PyTorch operations; n rows, gates ordered [r, z]."""

    def reset(self, gates: Tensor, previous: Tensor) -> Tensor:
        """The product r ⊙ h (n, H), and the gates (n, 2H), written over their pre-activations."""
        return gates.sigmoid_()[:, : previous.size(1)] * previous

    def update(self, candidate: Tensor, gates: Tensor, previous: Tensor) -> Tensor:
        """The state z ⊙ h + (1 − z) ⊙ h̃ (n, H), and the candidate h̃ (n, H), written over its pre-activation."""
        return torch.lerp(candidate.tanh_(), previous, gates[:, previous.size(1) :])

    def update_backward(
        self, grad: Tensor, previous: Tensor, gates: Tensor, candidate: Tensor, grad_inputs: Tensor
    ) -> None:
        """Writes the last two of the three blocks of the inputs' gradient (n, 3H)."""
        size = previous.size(1)
        update = gates[:, size:]
        torch.mul(grad * (1 - update), 1 - candidate * candidate, out=grad_inputs[:, 2 * size :])
        torch.mul(grad * (previous - candidate), update * (1 - update), out=grad_inputs[:, size : 2 * size])

    def reset_backward(
        self, grad: Tensor, grad_reset_previous: Tensor, previous: Tensor, gates: Tensor, grad_inputs: Tensor
    ) -> Tensor:
        """The gradient of h (n, H) without the gates' product; writes the first block of the inputs' gradient."""
        size = previous.size(1)
        reset, update = gates[:, :size], gates[:, size:]
        torch.mul(grad_reset_previous * previous, reset * (1 - reset), out=grad_inputs[:, :size])
        return torch.addcmul(grad * update, grad_reset_previous, reset)


EAGER = Elementwise()
