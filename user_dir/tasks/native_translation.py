"""``native_translation``: fairseq's translation task with the native beam search.

The whole search of a batch is one call of C++, where that can do what is asked.
"""

import functools
import logging
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.search import BeamSearch
from fairseq.sequence_generator import SequenceGenerator
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from torch import Tensor, nn

from recurrent_mt.kernels.beam_search import Hypothesis, SearchOptions, beam_search
from recurrent_mt.layers.encoder_output import EncoderOutput

from ..models.encoder_decoder import check_alignments
from ..models.native_search import NativeDecoder, reason_unsupported

logger = logging.getLogger(__name__)


class NativeGenerator(SequenceGenerator):
    """Translates like fairseq's generator, by :mod:`recurrent_mt.kernels.beam_search`.

    What that cannot do is left to fairseq's search; the log says once what it was.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._native: NativeDecoder | None = None

    def _generate(
        self,
        sample: dict[str, Any],
        prefix_tokens: Tensor | None = None,
        constraints: Tensor | None = None,
        bos_token: int | None = None,
    ) -> list[list[dict[str, Tensor]]]:
        reason = self._reason_unsupported(sample, prefix_tokens, constraints)
        if reason is not None:
            _log(reason)
            return super()._generate(sample, prefix_tokens, constraints, bos_token)
        with torch.no_grad():
            return self._translate(sample["net_input"], self.eos if bos_token is None else bos_token)

    def _reason_unsupported(
        self, sample: dict[str, Any], prefix_tokens: Tensor | None, constraints: Tensor | None
    ) -> str | None:
        """Says what the native search cannot do, in a few words; None if it can do everything."""
        reasons = {
            "the search is not plain beam search": type(self.search) is not BeamSearch,
            "output as long as the input is asked for": self.match_source_len,
            "prefixes are given": prefix_tokens is not None,
            "constraints are given": constraints is not None,
            "a language model is added": self.lm_model is not None,
            "repeated n-grams are forbidden": self.repeat_ngram_blocker is not None,
            "words are suppressed": self.token_indices_to_suppress is not None,
            "there are several models": self.model.models_size != 1,
            "the source is not text": "src_tokens" not in sample["net_input"],
        }
        reason = next((reason for reason, holds in reasons.items() if holds), None)
        return reason or reason_unsupported(self.model.single_model)

    def _translate(self, net_input: dict[str, Tensor], begin: int) -> list[list[dict[str, Tensor]]]:
        decoder = self.model.single_model.decoder
        if self._native is None or self._native.decoder is not decoder:
            self._native = NativeDecoder(decoder)
        sentences, width = net_input["src_tokens"].shape
        longest = min(int(self.max_len_a * width + self.max_len_b), self.max_len - 1)
        assert self.min_len <= longest, "min_len cannot be larger than max_len, please adjust these!"
        options = SearchOptions(
            beam=self.beam_size,
            longest=longest,
            shortest=self.min_len,
            unknown_penalty=float(self.unk_penalty),
            temperature=float(self.temperature),
            begin=begin,
            end=self.eos,
            padding=self.pad,
            unknown=self.unk,
        )
        (encoded,) = self.model.forward_encoder(net_input)
        found: list[list[dict[str, Tensor]]] = [[] for _ in range(sentences)]
        for hypothesis in beam_search(self._native.weights(), self._native.source(encoded), options):
            found[hypothesis.sentence].append(self._as_fairseqs(hypothesis, encoded))
        # Stable, as the sort of fairseq's generator is for so few.
        return [sorted(hypotheses, key=lambda one: -float(one["score"])) for hypotheses in found]

    def _as_fairseqs(self, hypothesis: Hypothesis, encoded: EncoderOutput) -> dict[str, Tensor]:
        score = hypothesis.score
        if self.normalize_scores:
            score = score / len(hypothesis.words) ** self.len_penalty
        attention = torch.empty(0)
        if hypothesis.attention is not None:
            attention = encoded.over_tokens(hypothesis.attention).t()
        return {
            "tokens": hypothesis.words,
            "score": score,
            "attention": attention,
            "alignment": torch.empty(0),
            "positional_scores": hypothesis.log_probabilities,
        }


@functools.cache
def _log(reason: str) -> None:
    logger.info("fairseq's own search translates, not the native one: %s", reason)


@dataclass
class NativeTranslationConfig(TranslationConfig):
    """The options of ``translation``."""


@register_task("native_translation", dataclass=NativeTranslationConfig)
class NativeTranslationTask(TranslationTask):
    """Translation whose search is compiled; see :class:`NativeGenerator`."""

    def build_generator(self, models: list[nn.Module], args: Any, seq_gen_cls: Any = None, **kwargs: Any) -> Any:
        """The native search, unless alignments are asked for, which only fairseq's own generator prints.

        Raises:
            ValueError: if alignments are asked of models without attention.
        """
        if getattr(args, "print_alignment", None):
            check_alignments(models)
        elif seq_gen_cls is None:
            seq_gen_cls = NativeGenerator
        return super().build_generator(models, args, seq_gen_cls=seq_gen_cls, **kwargs)
