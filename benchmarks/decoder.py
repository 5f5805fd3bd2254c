"""The decoder over given targets, forward and backward, compared with the decoder of fairseq's ``lstm``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from fairseq.models import FairseqEncoderDecoderModel
from torch import Tensor

from .case import Case, Family
from .model_products import decoder as decoder_products
from .parity import constant_gradient
from .setting import Setting
from .systems import model_shape, prepare_models


def prepare(setting: Setting, **shape: Any) -> Case:
    """The decoder alone, from an encoded batch to scores over the vocabulary, and all its gradients.

    The arguments are those of :func:`~benchmarks.systems.prepare_models`.
    """
    models = prepare_models(setting, **shape)
    products = decoder_products(models.source, models.target, models.size, attention=models.system.attention)
    return Case(
        _forward_and_backward(models.ours, models.sample["net_input"]),
        products.all(),
        models.check,
        "words",
        sum(models.target),
        _forward_and_backward(models.stock, models.sample["net_input"]),
    )


def _forward_and_backward(model: FairseqEncoderDecoderModel, net_input: dict[str, Any]) -> Callable[[], object]:
    model.train()
    with torch.no_grad():
        encoded = model.encoder(net_input["src_tokens"], net_input["src_lengths"])
    fields = [field.requires_grad_() if _carries_gradient(field) else field for field in encoded]
    encoded = getattr(type(encoded), "_make", tuple)(fields)
    inputs = [*model.decoder.parameters(), *filter(_carries_gradient, fields)]

    def scores() -> Tensor:
        return model.decoder(net_input["prev_output_tokens"], encoder_out=encoded)[0]

    with torch.no_grad():
        gradient = constant_gradient(scores())
    # Without attention, nothing reads the annotations.
    return lambda: torch.autograd.grad(scores(), inputs, gradient, allow_unused=True)


def _carries_gradient(field: object) -> bool:
    return isinstance(field, Tensor) and field.is_floating_point()


FAMILY = Family(
    name="decoder",
    about="the decoder over given targets, with scores over the vocabulary, forward and backward",
    prepare=prepare,
    shapes=(
        model_shape("RNNsearch", "small", 32, 30, "mixed"),
        model_shape("RNNsearch", "small", 64, 30, "alike"),
        model_shape("RNNsearch", "paper", 16, 30, "mixed"),
        model_shape("RNNenc", "small", 32, 30, "mixed"),
        model_shape("RNNenc", "small", 64, 30, "alike"),
    ),
    quick=(model_shape("RNNsearch", "tiny", 3, 6, "mixed"), model_shape("RNNenc", "tiny", 3, 6, "mixed")),
    growth=model_shape("RNNsearch", "small", 16, 20, "equal"),
    small_growth=model_shape("RNNsearch", "tiny", 2, 4, "equal"),
)
