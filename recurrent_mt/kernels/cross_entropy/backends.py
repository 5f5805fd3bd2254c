"""The output layer and its cross-entropy: ``packed`` in PyTorch, and ``native`` in C++.

The scores of some rows are computed, used, and dropped before the next ones. Gradients, if needed, are therefore
computed in the forward pass; the backward pass multiplies them by its own. ``native`` is
``../native/cross_entropy.cpp``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ..backend import check_native
from ..matrix import add_product_, product, slices

SCORES = {"cpu": 1 << 19}
"""How many scores are computed at once, by kind of device: on a CPU two megabytes, which fit in its cache."""

OTHER_SCORES = 1 << 25
"""The same on any other device, where a large operation takes hardly longer than a small one; not measured."""

FEWEST_ROWS = 128
"""For any vocabulary: fewer rows at a time multiply slowly and add to the weight's gradient too often."""

GRADIENT_SCALES = {torch.float16: 128.0}
"""By what gradients of scores are multiplied before they are narrowed: the scale of --fp16, 128 at first, comes too
late for them, and the probabilities of most words are below float16's least number."""


def packed_cross_entropy(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    label_smoothing: float,
    r_drop_weight: float,
) -> tuple[Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.cross_entropy.cross_entropy` in PyTorch, on packed rows."""
    return _PackedCrossEntropy.apply(features, weight, bias, target, label_smoothing, r_drop_weight)


class _Gradients(NamedTuple):
    """The gradients of features (N, O), weight (V, O), and bias (V,); None for those that need none."""

    features: Tensor | None
    weight: Tensor | None
    bias: Tensor | None


class _PackedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        label_smoothing: float,
        r_drop_weight: float,
    ) -> tuple[Tensor, Tensor]:
        number = torch.promote_types(features.dtype, torch.float32)
        wanted = _Gradients(*(
            torch.zeros_like(tensor, dtype=number) if needed and tensor is not None else None
            for tensor, needed in zip((features, weight, bias), ctx.needs_input_grad)
        ))  # fmt: skip
        others = label_smoothing / (weight.size(0) - 1) if label_smoothing else 0.0
        total, of_others, divergence = (features.new_zeros((), dtype=number) for _ in range(3))
        for rows in _pieces(features.size(0), weight, pairs=r_drop_weight > 0):
            some, words = features[rows], target[rows].unsqueeze(1)
            log_probabilities = torch.log_softmax(_scores(some, weight, bias), dim=1)
            total -= log_probabilities.gather(1, words).sum()
            if others:
                of_others -= others * log_probabilities.sum()
            drawn = _draw_together(log_probabilities, r_drop_weight) if r_drop_weight else None
            if drawn:
                divergence += drawn[0]
            if any(ctx.needs_input_grad):
                # The gradient of the scores is softmax − q.
                grad = log_probabilities.exp_()
                if drawn:
                    grad.add_(drawn[1])
                if others:
                    grad.sub_(others)
                grad.scatter_add_(1, words, grad.new_full(words.shape, label_smoothing + others - 1))
                _add_gradients_(wanted, rows, grad, some, weight)
        ctx.save_for_backward(*wanted)
        ctx.formats = features.dtype, weight.dtype, None if bias is None else bias.dtype
        ctx.mark_non_differentiable(total)
        return (1 - label_smoothing - others) * total + of_others + divergence, total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        saved = zip(ctx.saved_tensors, ctx.formats)
        return *(None if grad is None else (grad * grad_loss).to(number) for grad, number in saved), *[None] * 3


def _draw_together(log_probabilities: Tensor, weight: float) -> tuple[Tensor, Tensor]:
    """The loss weight (KL(p, q) + KL(q, p)) / 2 of rows p, q, p, q … (n, V), and its gradient by their scores."""
    log_ratio = log_probabilities[0::2] - log_probabilities[1::2]
    p, q = log_probabilities[0::2].exp(), log_probabilities[1::2].exp()
    kl_p, kl_q = (p * log_ratio).sum(1, keepdim=True), -(q * log_ratio).sum(1, keepdim=True)
    by_p, by_q = p * (log_ratio - kl_p) + p - q, q * (-log_ratio - kl_q) + q - p
    return weight / 2 * (kl_p + kl_q).sum(), weight / 2 * torch.stack([by_p, by_q], 1).flatten(0, 1)


def _pieces(rows: int, weight: Tensor, *, pairs: bool) -> list[slice]:
    scores = SCORES.get(weight.device.type, OTHER_SCORES)
    at_once = max(FEWEST_ROWS, scores // weight.size(0))
    return slices(rows, at_once + at_once % 2 if pairs else at_once)


def _scores(features: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """W f + b (n, V), in float32 or wider."""
    scores = product(features, weight.t())
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    return scores if bias is None else scores.add_(bias)


def _add_gradients_(wanted: _Gradients, rows: slice, grad: Tensor, features: Tensor, weight: Tensor) -> None:
    """Adds what the gradient (n, V) of the scores of some rows contributes to them, in place."""
    if wanted.bias is not None:
        wanted.bias.add_(grad.sum(dim=0))
    scale = GRADIENT_SCALES.get(weight.dtype, 1.0)
    narrow = (grad if scale == 1 else grad.mul_(scale)).to(weight.dtype)
    if wanted.features is not None:
        add_product_(wanted.features[rows], narrow, weight, alpha=1 / scale)
    if wanted.weight is not None:
        some = features.to(weight.dtype)
        # Divided beforehand: a sum over rows may become too large.
        add_product_(wanted.weight, narrow.t(), some if scale == 1 else some / scale)


def native_cross_entropy(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    label_smoothing: float,
    r_drop_weight: float,
    *,
    products: torch.dtype,
) -> tuple[Tensor, Tensor]:
    """Computes :func:`recurrent_mt.kernels.cross_entropy.cross_entropy` in C++.

    ``products`` is the format of matrix products.
    """
    check_native("cross_entropy", features)
    return _NativeCrossEntropy.apply(features, weight, bias, target, label_smoothing, r_drop_weight, products)


class _NativeCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor | None, *rest: Any) -> tuple[Tensor, Tensor]:
        number = None if bias is None else bias.dtype
        bias = None if bias is None else bias.to(features.dtype)
        loss, total, *grads = torch.ops.recurrent_mt.cross_entropy(
            features, weight, bias, *rest, *ctx.needs_input_grad[:3]
        )
        ctx.save_for_backward(*grads)
        ctx.formats = features.dtype, weight.dtype, number
        ctx.mark_non_differentiable(total)
        return loss, total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        saved = zip(ctx.saved_tensors, ctx.formats)
        return *(None if grad is None else (grad * grad_loss).to(number) for grad, number in saved), *[None] * 4
