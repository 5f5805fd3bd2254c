"""fairseq's cross-entropy, with the scores over the vocabulary computed for some words at a time and never kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairseq.criterions import register_criterion
from fairseq.criterions.cross_entropy import CrossEntropyCriterion, CrossEntropyCriterionConfig
from torch import Tensor, nn

from ..models.decoder import Decoder


@dataclass
class ChunkedCrossEntropyConfig(CrossEntropyCriterionConfig):
    """The options of fairseq's ``cross_entropy``."""


@register_criterion("chunked_cross_entropy", dataclass=ChunkedCrossEntropyConfig)
class ChunkedCrossEntropyCriterion(CrossEntropyCriterion):
    """The same loss and gradients as ``cross_entropy``, up to rounding, in less memory and time.

    A batch of N words has N × V scores, and fairseq keeps as many log-probabilities and gradients as well. Here, the
    output layer and the loss are one operation, :func:`recurrent_mt.kernels.cross_entropy.cross_entropy`. Models from
    outside this plug-in, and those with an adaptive softmax, are trained as with ``cross_entropy``.
    """

    def forward(
        self, model: nn.Module, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """The loss of a batch, the divisor of its gradient, and what to log."""
        if reduce and _computes_loss(model):
            sample = {**sample, "net_input": {**sample["net_input"], "loss_of": sample["target"]}}
        return super().forward(model, sample, reduce=reduce)

    def compute_loss(
        self, model: nn.Module, net_output: tuple[Tensor, Any], sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, Tensor]:
        """The loss that the model has returned for the batch, twice, as fairseq wants it."""
        if not (reduce and _computes_loss(model)):
            return super().compute_loss(model, net_output, sample, reduce=reduce)
        return net_output[0], net_output[0]


def _computes_loss(model: nn.Module) -> bool:
    return isinstance(model.decoder, Decoder) and model.decoder.output_projection is not None
