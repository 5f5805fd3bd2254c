"""The output layer and its cross-entropy in one: scores over the vocabulary are computed, used, and dropped."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..backend import choose, resolve
from ..matrix import precision
from . import backends, reference

__all__ = ["BACKENDS", "cross_entropy"]

BACKENDS: dict[str, Callable[..., tuple[Tensor, Tensor]]] = {
    "reference": reference.cross_entropy,
    "packed": backends.packed_cross_entropy,
    "native": backends.native_cross_entropy,
    # On a GPU, PyTorch's operations on many rows are fused enough.
    "fused": backends.packed_cross_entropy,
}


def cross_entropy(
    features: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    *,
    label_smoothing: float = 0.0,
    backend: str = "packed",
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
        backend: ``native`` (C++, on a CPU), ``packed``, which is also ``fused``, ``reference``, or ``auto``, see
            :func:`recurrent_mt.kernels.backend.resolve`.

    Returns:
        The loss and, without a gradient, the sum of −log p_n(y_n), which is the same number without label smoothing.
        Both are in float32 or wider; the products are computed in the features' format or, under autocast, in its
        format; see :mod:`recurrent_mt.kernels.matrix`.

    Raises:
        ValueError: if the shapes do not fit together, if ε is out of range or there is no other word, or if the backend
            is unknown or cannot run here.
    """
    _check(features, weight, bias, target, label_smoothing)
    if not torch.is_grad_enabled():  # which no autograd.Function is told
        features, weight, bias = features.detach(), weight.detach(), None if bias is None else bias.detach()
    backend = resolve(backend, weight)
    states, products, outside_autocast = precision(weight, backend)
    with outside_autocast:
        features = features.to(states)
        if backend == "native":  # narrows the weight while it copies it
            return backends.native_cross_entropy(features, weight, bias, target, label_smoothing, products=products)
        run = choose("cross_entropy", backend, BACKENDS)
        return run(features, weight.to(products), bias, target, label_smoothing)


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
    if label_smoothing and vocabulary == 1:
        raise ValueError(f"label_smoothing is {label_smoothing}, but a vocabulary of one word has no others")
