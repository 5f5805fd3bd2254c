"""Ours against the reference kernels, before anything is timed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

#: How far a tensor may be from the reference's, computed in float64, as a share of its norm.
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 0.05}

#: In bfloat16 also this many times as far as the reference kernels are in the same number format:
#: gradients that are sums of many signs lose most of their eight bits, whatever computes them.
TIMES_THE_ROUNDING = 2

#: A gradient smaller than this share of the greatest is compared as if it had that size: it is rounding.
LEAST_SHARE = 1e-3

#: How many sentences are compared; the reference loops are too slow for whole batches.
SENTENCES = 4


class ParityError(AssertionError):
    """Ours differs from the reference; nothing may be timed."""


def assert_parity(
    what: str,
    ours: Callable[[], Sequence[Tensor]],
    reference: Callable[[torch.dtype], Sequence[Tensor]],
    dtype: torch.dtype,
) -> None:
    """Compares tensors one by one, each by the norm of the difference.

    Args:
        what: what is compared, for the message.
        ours: makes the tensors in the run's dtype.
        reference: makes them with the reference kernels in a given dtype, in the same order.
        dtype: the format of the run's products.

    Raises:
        ParityError: naming the first tensor that is too far off.
    """
    expected = [tensor.detach().double() for tensor in reference(torch.float64)]
    norms = [float(tensor.norm()) for tensor in expected]
    allowed = [TOLERANCE[dtype] * max(norm, LEAST_SHARE * max(norms)) for norm in norms]
    if dtype == torch.bfloat16:
        rounding = _distances(reference(dtype), expected)
        allowed = [max(least, TIMES_THE_ROUNDING * distance) for least, distance in zip(allowed, rounding)]
    for index, distance in enumerate(_distances(ours(), expected)):
        if not distance <= allowed[index]:
            raise ParityError(
                f"{what}: tensor {index} of shape {tuple(expected[index].shape)} is {distance:.3g} from the reference, "
                f"which has the norm {norms[index]:.3g}; {allowed[index]:.3g} is allowed in {dtype}. Nothing was timed."
            )


def _distances(tensors: Sequence[Tensor], expected: Sequence[Tensor]) -> list[float]:
    return [float((tensor.detach().double() - theirs).norm()) for tensor, theirs in zip(tensors, expected, strict=True)]


def copy_in(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """A copy in that dtype, including its products."""
    module = copy.deepcopy(module).to(dtype)
    for part in module.modules():
        if hasattr(part, "autocast"):
            part.autocast = "none"  # type: ignore[assignment]  # a Module's attributes are tensors, says torch
    return module


def reference_of(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """A copy in that dtype, including its products, that uses the reference kernels.

    Raises:
        ValueError: if nothing in the module has a choice of kernels.
    """
    reference = copy_in(module, dtype)
    layers = [layer for layer in reference.modules() if hasattr(layer, "backend")]
    if not layers:
        raise ValueError(f"{type(module).__name__} has no layer with a choice of kernels to compare")
    for layer in layers:
        layer.backend = "reference"  # type: ignore[assignment]  # as above
    return reference


def assert_model_agrees(what: str, model: nn.Module, net_input: dict[str, Any], dtype: torch.dtype) -> None:
    """Compares a model's scores and all its gradients, without dropout.

    If products are narrower than the weights, it compares only the scores, and the gradients in float64: the two
    numbers that a maxout chooses between can be rounded to the same value and then share its gradient, and a small
    model has few of them.

    Args:
        what: what is compared, for the message.
        model: one of ours, in fairseq's form.
        net_input: a batch's.
        dtype: the format of the run's products.

    Raises:
        ParityError: if they differ.
    """
    training = model.training
    model.eval()
    try:
        narrow = dtype != next(model.parameters()).dtype
        if narrow:
            assert_parity(
                what,
                lambda: [model(**net_input)[0]],
                lambda number: [reference_of(model, number)(**net_input)[0]],
                dtype,
            )
        exact = copy_in(model, torch.float64) if narrow else model
        assert_parity(
            what,
            lambda: _scores_and_gradients(exact, net_input),
            lambda number: _scores_and_gradients(reference_of(model, number), net_input),
            next(exact.parameters()).dtype,
        )
    finally:
        model.train(training)


def _scores_and_gradients(model: nn.Module, net_input: dict[str, Any]) -> list[Tensor]:
    scores = model(**net_input)[0]
    return [scores, *torch.autograd.grad(scores, list(model.parameters()), constant_gradient(scores))]


def constant_gradient(output: Tensor) -> Tensor:
    """A gradient that is the same each time and different from entry to entry, like ``output``."""
    steps = torch.arange(output.numel(), device=output.device, dtype=torch.float32)
    return (steps * 0.7).sin_().view(output.shape).to(output.dtype)
