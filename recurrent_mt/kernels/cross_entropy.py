"""The output layer and its cross-entropy in one: scores over the vocabulary are computed, used, and dropped."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .cache import slices
from .mixed_precision import add_product_, precision, product

SCORES = {"cpu": 1 << 19}
"""How many scores are computed at once, by kind of device: on a CPU two megabytes, which fit in its cache."""

OTHER_SCORES = 1 << 25
"""The same on any other device, where a large operation takes hardly longer than a small one; not measured."""

FEWEST_ROWS = 128
"""For any vocabulary: fewer rows at a time multiply slowly and add to the weight's gradient too often."""


def cross_entropy(features: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor) -> Tensor:
    """The sum over n of −log softmax(W f_n + b) at the target y_n.

    N words have N × V scores, and as many log-probabilities and gradients of each. Here, the scores of some rows are
    computed, used for the loss and the gradients, and dropped before those of the next rows are computed. Gradients, if
    needed, are therefore computed in the forward pass; the backward pass multiplies them by its own.

    Args:
        features: (N, O) f.
        weight: (V, O) W.
        bias: (V,) b, or None.
        target: (N,) y, from 0 to V − 1.

    Returns:
        The sum, in float32 or wider; the products are computed in the features' format or, under autocast, in its
        format; see :mod:`recurrent_mt.kernels.mixed_precision`.

    Raises:
        ValueError: if the shapes do not fit together.
    """
    (rows, size), vocabulary = features.shape, weight.size(0)
    fits = weight.shape == (vocabulary, size) and target.shape == (rows,)
    if not fits or not (bias is None or bias.shape == (vocabulary,)):
        shapes = [None if tensor is None else tuple(tensor.shape) for tensor in (features, weight, bias, target)]
        raise ValueError(
            "features (N, O), weight (V, O), bias (V,) and target (N,) do not fit: {}, {}, {}, {}".format(*shapes)
        )
    states, products, outside_autocast = precision(weight, "packed")
    with outside_autocast:
        return _CrossEntropy.apply(features.to(states), weight.to(products), bias, target)


class _Gradients(NamedTuple):
    """The gradients of features (N, O), weight (V, O), and bias (V,); None for those that need none."""

    features: Tensor | None
    weight: Tensor | None
    bias: Tensor | None


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor | None, target: Tensor) -> Tensor:
        number = torch.promote_types(features.dtype, torch.float32)
        wanted = _Gradients(*(
            torch.zeros_like(tensor, dtype=number) if needed and tensor is not None else None
            for tensor, needed in zip((features, weight, bias), ctx.needs_input_grad)
        ))  # fmt: skip
        total = features.new_zeros((), dtype=number)
        for rows in _pieces(features.size(0), weight):
            some, words = features[rows], target[rows].unsqueeze(1)
            log_probabilities = torch.log_softmax(_scores(some, weight, bias), dim=1)
            total -= log_probabilities.gather(1, words).sum()
            if any(ctx.needs_input_grad):
                # The gradient of the scores is softmax − one-hot.
                grad = log_probabilities.exp_()
                grad.scatter_add_(1, words, grad.new_full(words.shape, -1))
                _add_gradients_(wanted, rows, grad, some, weight)
        ctx.save_for_backward(*wanted)
        ctx.formats = features.dtype, weight.dtype, None if bias is None else bias.dtype
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_total: Tensor) -> tuple[Tensor | None, ...]:
        saved = zip(ctx.saved_tensors, ctx.formats)
        return *(None if grad is None else (grad * grad_total).to(number) for grad, number in saved), None


def _pieces(rows: int, weight: Tensor) -> list[slice]:
    scores = SCORES.get(weight.device.type, OTHER_SCORES)
    return slices(rows, max(FEWEST_ROWS, scores // weight.size(0)))


def _scores(features: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """W f + b (n, V), in float32 or wider."""
    scores = product(features, weight.t())
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    return scores if bias is None else scores.add_(bias)


def _add_gradients_(wanted: _Gradients, rows: slice, grad: Tensor, features: Tensor, weight: Tensor) -> None:
    """Adds what the gradient (n, V) of the scores of some rows contributes to them, in place."""
    narrow = grad.to(weight.dtype)
    if wanted.features is not None:
        add_product_(wanted.features[rows], narrow, weight)
    if wanted.weight is not None:
        add_product_(wanted.weight, narrow.t(), features.to(weight.dtype))
    if wanted.bias is not None:
        wanted.bias.add_(grad.sum(dim=0))
