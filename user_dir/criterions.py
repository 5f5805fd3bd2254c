"""What training minimizes.

``chunked_cross_entropy``: fairseq's cross-entropy, with the scores over the vocabulary computed for some words at a
time and never kept.

``summed_cross_entropy``: The objective of the papers' code: the loss is summed over the minibatch, and the gradient of
that sum is clipped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fairseq.criterions import register_criterion
from fairseq.criterions.cross_entropy import CrossEntropyCriterion, CrossEntropyCriterionConfig
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from torch import Tensor, nn

from .models.model import Decoder


@dataclass
class ChunkedCrossEntropyConfig(CrossEntropyCriterionConfig):
    """The options of fairseq's ``cross_entropy``, and the smoothing of its ``label_smoothed_cross_entropy``."""

    label_smoothing: float = field(
        default=0.0,
        metadata={
            "help": "how much of a word's probability goes in equal parts to all other words (Szegedy et al. 2016), as "
            "in fairseq's label_smoothed_cross_entropy"
        },
    )


@register_criterion("chunked_cross_entropy", dataclass=ChunkedCrossEntropyConfig)
class ChunkedCrossEntropyCriterion(LabelSmoothedCrossEntropyCriterion):
    """The same loss and gradients as fairseq's, up to rounding, in less memory and time.

    fairseq's is ``label_smoothed_cross_entropy`` with label smoothing, and ``cross_entropy`` without.

    A batch of N words has N × V scores, and fairseq keeps as many log-probabilities and gradients as well. Here, the
    output layer and the loss are one operation, :func:`recurrent_mt.kernels.cross_entropy.cross_entropy`. Models from
    outside this plug-in are trained as with fairseq's own.
    """

    def __init__(self, task: Any, sentence_avg: bool, label_smoothing: float = 0.0) -> None:
        super().__init__(task, sentence_avg, label_smoothing)

    def forward(
        self, model: nn.Module, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """The loss of a batch, the divisor of its gradient, and what to log."""
        if reduce and isinstance(model.decoder, Decoder):
            asked = {"loss_of": sample["target"], "label_smoothing": self.eps}
            sample = {**sample, "net_input": {**sample["net_input"], **asked}}
        loss, size, logged = super().forward(model, sample, reduce=reduce)
        if not self.eps:
            del logged["nll_loss"]
        return loss, size, logged

    def compute_loss(
        self, model: nn.Module, net_output: tuple[Any, Any], sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, Tensor]:
        """The loss of a batch and, without smoothing, of its words' probabilities."""
        if reduce and isinstance(model.decoder, Decoder):
            return net_output[0]
        own = LabelSmoothedCrossEntropyCriterion if self.eps else CrossEntropyCriterion
        return own.compute_loss(self, model, net_output, sample, reduce=reduce)

    @classmethod
    def reduce_metrics(cls, logging_outputs: Sequence[dict[str, Any]]) -> None:
        """Logs losses per word, base 2: as ``cross_entropy`` does, and with smoothing ``nll_loss`` in any case."""
        smoothed = any("nll_loss" in logged for logged in logging_outputs)
        own = LabelSmoothedCrossEntropyCriterion if smoothed else CrossEntropyCriterion
        own.reduce_metrics(logging_outputs)


@dataclass
class SummedCrossEntropyConfig(ChunkedCrossEntropyConfig):
    """The options of ``chunked_cross_entropy``."""


@register_criterion("summed_cross_entropy", dataclass=SummedCrossEntropyConfig)
class SummedCrossEntropyCriterion(ChunkedCrossEntropyCriterion):
    """Cross-entropy whose gradient is that of the sum over all words of the batch.

    fairseq divides the gradient by the number of words before ``--clip-norm`` sees it; the authors' released code clips
    the gradient of the sum, so that practically every update is clipped. The logged loss is still per word. The scores
    are computed for some words at a time, as in ``chunked_cross_entropy``. ``--sentence-avg`` changes nothing.
    """

    def forward(
        self, model: nn.Module, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """The loss of a batch, the divisor of its gradient, and what to log."""
        loss, _, logging_output = super().forward(model, sample, reduce=reduce)
        # fairseq's trainer divides by the sum of these over workers and accumulated batches, and by one if it is zero.
        return loss, 0, logging_output
