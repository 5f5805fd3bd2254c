"""The objective of the papers' code: the loss is summed over the minibatch, and the gradient of that sum is clipped."""

from dataclasses import dataclass
from typing import Any

from fairseq.criterions import register_criterion
from torch import Tensor, nn

from .chunked_cross_entropy import ChunkedCrossEntropyConfig, ChunkedCrossEntropyCriterion


@dataclass
class SummedCrossEntropyConfig(ChunkedCrossEntropyConfig):
    """The options of ``chunked_cross_entropy``."""


@register_criterion("summed_cross_entropy", dataclass=SummedCrossEntropyConfig)
class SummedCrossEntropyCriterion(ChunkedCrossEntropyCriterion):
    """Cross-entropy whose gradient is that of the sum over all words of the batch.

    fairseq divides the gradient by the number of words before ``--clip-norm`` sees it; the authors' released code clips
    the gradient of the sum, so that practically every update is clipped. The logged loss is still per word. The scores
    are computed for some words at a time, as in ``chunked_cross_entropy``.

    Raises:
        ValueError: if the gradient is to be divided by the number of sentences.
    """

    def __init__(self, task: Any, sentence_avg: bool, label_smoothing: float = 0.0) -> None:
        if sentence_avg:
            raise ValueError(
                "--sentence-avg does not work with --criterion summed_cross_entropy, which divides by nothing"
            )
        super().__init__(task, sentence_avg, label_smoothing)

    def forward(
        self, model: nn.Module, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """The loss of a batch, the divisor of its gradient, and what to log."""
        loss, _, logging_output = super().forward(model, sample, reduce=reduce)
        # fairseq's trainer divides by the sum of these over workers and accumulated batches, and by one if it is zero.
        return loss, 0, logging_output
