"""Encoders with their embeddings, forward and backward, compared with the encoder of fairseq's ``lstm``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .case import Case, Family
from .parity import constant_gradient
from .setting import Setting
from .systems import model_shape, prepare_models


def prepare(setting: Setting, **shape: Any) -> Case:
    """The encoder alone: annotations and summary, and all its gradients.

    The arguments are those of :func:`~benchmarks.systems.prepare_models`.
    """
    models = prepare_models(setting, **shape)
    tokens = {name: models.sample["net_input"][name] for name in ("src_tokens", "src_lengths")}
    return Case(
        _forward_and_backward(models.ours.encoder, tokens, lambda output: [output.annotations, output.summary]),
        models.system.encoder_products(models.source, models.size).all(),
        models.check,
        "words",
        sum(models.source),
        _forward_and_backward(models.stock.encoder, tokens, lambda output: output[:2]),
    )


def _forward_and_backward(
    encoder: nn.Module, tokens: dict[str, Tensor], read: Callable[[Any], Sequence[Tensor]]
) -> Callable[[], object]:
    encoder.train()
    weights = list(encoder.parameters())
    with torch.no_grad():
        gradients = [constant_gradient(output) for output in read(encoder(**tokens))]

    return lambda: torch.autograd.grad(read(encoder(**tokens)), weights, gradients)


FAMILY = Family(
    name="encoder",
    about="the encoder with its embeddings, forward and backward",
    prepare=prepare,
    shapes=(
        model_shape("RNNsearch", "small", 32, 30, "mixed"),
        model_shape("RNNsearch", "small", 64, 30, "alike"),
        model_shape("RNNsearch", "paper", 32, 50, "mixed"),
        model_shape("grConv", "small", 32, 30, "mixed"),
        model_shape("dilated grConv", "small", 32, 30, "mixed"),
        model_shape("dilated grConv", "small", 64, 30, "alike"),
    ),
    quick=tuple(model_shape(system, "tiny", 3, 6, "mixed") for system in ("RNNsearch", "grConv", "dilated grConv")),
    growth=model_shape("RNNsearch", "small", 16, 20, "equal"),
    small_growth=model_shape("RNNsearch", "tiny", 2, 4, "equal"),
)
