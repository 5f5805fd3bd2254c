"""The output layer and its cross-entropy in one: scores over the vocabulary are computed, used, and dropped.

Gradients, if needed, are therefore computed in the forward pass; the backward pass multiplies them by its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .dispatch import Operation
from .matrix import add_product_, product, slices

SCORES = {"cpu": 1 << 19}
"""How many scores are computed at once, by kind of device: on a CPU two megabytes, which fit in its cache."""

OTHER_SCORES = 1 << 25
"""The same on any other device, where a large operation takes hardly longer than a small one; not measured."""

FEWEST_ROWS = 128
"""For any vocabulary: fewer rows at a time multiply slowly and add to the weight's gradient too often."""

GRADIENT_SCALES = {torch.float16: 128.0}
"""By what gradients of scores are multiplied before they are narrowed: the scale of --fp16, 128 at first, comes too
late for them, and the probabilities of most words are below float16's least number."""


def cross_entropy(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    *,
    label_smoothing: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """The sum over n of −log p_n(y_n), where p_n = softmax(W f_n + b) and y_n is the target.

    With label smoothing ε, the target of each word is a distribution q_n instead: 1 − ε at y_n and ε / (V − 1) at every
    other word (Szegedy et al. 2016, as in fairseq), and the loss is the sum over n of −q_n · log p_n.

    N words have N × V scores, and as many log-probabilities and gradients of each. Only ``reference`` has them all in
    memory at the same time.

    Args:
        features: (N, O) f.
        weight: (V, O) W.
        bias: (V,) b, or None.
        target: (N,) y, from 0 to V − 1.
        label_smoothing: ε, from 0 to below 1.

    Returns:
        The loss and, without a gradient, the sum of −log p_n(y_n), which is the same number without label smoothing.
        Both are in float32 or wider; the products are computed in the features' dtype or, under autocast, in its
        dtype; see :class:`recurrent_mt.kernels.dispatch.Call`.

    Raises:
        ValueError: if the shapes do not fit together, if ε is out of range, or if an implementation is asked for that
            cannot run here.
    """
    _check(features, weight, bias, target, label_smoothing)
    if not torch.is_grad_enabled():  # which no autograd.Function is told
        features, weight, bias = features.detach(), weight.detach(), None if bias is None else bias.detach()
    call = CROSS_ENTROPY.call(weight)
    with call.outside_autocast:
        return call.run(features.to(call.states), weight, bias, target, label_smoothing, call.products)


def _check(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    label_smoothing: float,
) -> None:
    (rows, size), vocabulary = features.shape, weight.size(0)
    fits = weight.shape == (vocabulary, size) and target.shape == (rows,)
    if not fits or not (bias is None or bias.shape == (vocabulary,)):
        shapes = [None if tensor is None else tuple(tensor.shape) for tensor in (features, weight, bias, target)]
        raise ValueError(
            "features (N, O), weight (V, O), bias (V,) and target (N,) do not fit: {}, {}, {}, {}".format(*shapes)
        )
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"label_smoothing must be from 0 to below 1, not {label_smoothing}")


def reference_cross_entropy(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    label_smoothing: float,
    products: torch.dtype,
) -> tuple[Tensor, Tensor]:
    """Computes :func:`cross_entropy` in the words of a textbook."""
    scores = features @ weight.t()
    if bias is not None:
        scores = scores + bias
    log_probabilities = torch.log_softmax(scores, dim=1)
    total = loss = -log_probabilities.gather(1, target.unsqueeze(1)).sum()
    if label_smoothing:
        others = label_smoothing / (weight.size(0) - 1)
        loss = (1 - label_smoothing - others) * total - others * log_probabilities.sum()
    return loss, total.detach()


def packed_cross_entropy(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    label_smoothing: float,
    products: torch.dtype,
) -> tuple[Tensor, Tensor]:
    """Computes :func:`cross_entropy` in PyTorch."""
    return _CrossEntropy.apply(_loss_and_gradients, features, weight.to(products), bias, target, label_smoothing)


class _Gradients(NamedTuple):
    """The gradients of features (N, O), weight (V, O), and bias (V,); None for those that need none."""

    features: Tensor | None
    weight: Tensor | None
    bias: Tensor | None


class _CrossEntropy(torch.autograd.Function):
    """The loss in an implementation that computes its gradients at once.

    ``compute`` takes what follows it, and then which of the first three need gradients. It returns the loss, the
    targets' part of it, and those gradients.
    """

    @staticmethod
    def forward(
        ctx: Any, compute: Callable[..., Any], features: Tensor, weight: Tensor, bias: Tensor | None, *rest: Any
    ) -> tuple[Tensor, Tensor]:
        loss, total, *grads = compute(features, weight, bias, *rest, *ctx.needs_input_grad[1:4])
        ctx.save_for_backward(*grads)
        ctx.dtypes = features.dtype, weight.dtype, None if bias is None else bias.dtype
        ctx.number_of_others = len(rest)
        ctx.mark_non_differentiable(total)
        return loss, total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        saved = zip(ctx.saved_tensors, ctx.dtypes)
        grads = (None if grad is None else (grad * grad_loss).to(dtype) for grad, dtype in saved)
        return None, *grads, *[None] * ctx.number_of_others


def _loss_and_gradients(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    label_smoothing: float,
    *needed: bool,
) -> tuple[Tensor | None, ...]:
    """The loss, the targets' part of it, and the gradients of features, weight and bias that are needed."""
    dtype = torch.promote_types(features.dtype, torch.float32)
    wanted = _Gradients(*(
        torch.zeros_like(tensor, dtype=dtype) if is_needed and tensor is not None else None
        for tensor, is_needed in zip((features, weight, bias), needed)
    ))  # fmt: skip
    others = label_smoothing / (weight.size(0) - 1) if label_smoothing else 0.0
    total, of_others = (features.new_zeros((), dtype=dtype) for _ in range(2))
    for rows in _pieces(features.size(0), weight):
        some, words = features[rows], target[rows].unsqueeze(1)
        log_probabilities = torch.log_softmax(_scores(some, weight, bias), dim=1)
        total -= log_probabilities.gather(1, words).sum()
        if others:
            of_others -= others * log_probabilities.sum()
        if any(needed):
            # The gradient of the scores is softmax − q.
            grad = log_probabilities.exp_()
            if others:
                grad.sub_(others)
            grad.scatter_add_(1, words, grad.new_full(words.shape, label_smoothing + others - 1))
            _add_gradients_(wanted, rows, grad, some, weight)
    return (1 - label_smoothing - others) * total + of_others, total, *wanted


def _pieces(rows: int, weight: Tensor) -> list[slice]:
    return slices(rows, max(FEWEST_ROWS, SCORES.get(weight.device.type, OTHER_SCORES) // weight.size(0)))


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
    products: torch.dtype,
) -> tuple[Tensor, Tensor]:
    """Computes :func:`cross_entropy` in C++, ``native/cross_entropy.cpp``."""
    compute = torch.ops.recurrent_mt.cross_entropy
    return _CrossEntropy.apply(compute, features, weight, bias, target, label_smoothing, products)


CROSS_ENTROPY = Operation(
    "cross_entropy",
    reference=reference_cross_entropy,
    packed=packed_cross_entropy,
    native=native_cross_entropy,
    # On a GPU, PyTorch's operations on many rows are fused enough.
    fused=packed_cross_entropy,
)
