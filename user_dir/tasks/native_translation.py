"""``native_translation``: fairseq's translation task with the native beam search.

The whole search of a batch is one call of C++, where that can do what is asked: :class:`NativeDecoder` is what it
reads of a model.
"""

import functools
import logging
from dataclasses import dataclass
from typing import Any, cast

import torch
from fairseq.search import BeamSearch
from fairseq.sequence_generator import SequenceGenerator
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from torch import Tensor, nn
from torch.nn import functional as F

from recurrent_mt.kernels import native
from recurrent_mt.kernels.beam_search import DecoderWeights, Hypothesis, SearchOptions, SearchSource, beam_search
from recurrent_mt.kernels.dispatch import NATIVE_DTYPES, selected
from recurrent_mt.layers.conditioned_gru import AttentiveGRU
from recurrent_mt.layers.decoder import GRUDecoder
from recurrent_mt.layers.dropout import Dropout
from recurrent_mt.layers.encoder_output import EncoderOutput
from recurrent_mt.layers.weights import BiasedEmbedding, whole_matrix

from ..models.autocast import DTYPES
from ..models.encoder_decoder import EncoderDecoderModel, check_alignments
from ..models.model import Decoder

logger = logging.getLogger(__name__)


def reason_unsupported(model: nn.Module) -> str | None:
    """Says what keeps the native search from translating with this model, in a few words; None if nothing does."""
    if not isinstance(model, EncoderDecoderModel):
        return f"a {type(model).__name__} is not one of this plug-in's models"
    layer, variant = model.decoder.layer, model.decoder.layer.first.gru.variant
    weight = model.decoder.embed_tokens.weight
    reasons = {
        str(native.reason_unavailable()): native.reason_unavailable() is not None,
        "the model is not on the CPU": weight.device.type != "cpu",
        f"the model's numbers are {weight.dtype}": weight.dtype not in NATIVE_DTYPES,
        f"the model's kernels are {selected(weight)!r}": selected(weight) != "native",
        "the decoder has more than one layer": bool(layer.upper),
        "the decoder has self-attention": layer.self_attention is not None,
        "the decoder skips in time": bool(variant.time_skip),
        "the decoder adds a layer's input to its output": variant.input_skip,
        "the decoder has a deep transition": variant.transition_depth > 1,
        "dropout is retained": any(part.retained for part in model.modules() if isinstance(part, Dropout)),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


class NativeDecoder:
    """A decoder's weights in the order in which C++ multiplies by them, copied again when training has changed them.

    Args:
        decoder: of a model for which :func:`reason_unsupported` has nothing to say.
    """

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        self._read: list[float] = []
        self._weights: DecoderWeights | None = None

    def weights(self) -> DecoderWeights:
        """The weights as they are now."""
        # Sums as well, since optimizers and whatever else goes by .data change weights without a new version.
        norm = self.decoder.layer.first.gru.output.norm
        read = [0.0 if norm is None else norm.eps]
        for weight in self.decoder.parameters():
            read += [float(weight.detach().sum(dtype=torch.float32)), 0 if weight.is_inference() else weight._version]
        if self._weights is None or read != self._read:
            self._weights, self._read = _decoder_weights(self.decoder), read
        return self._weights

    def source(self, encoded: EncoderOutput) -> SearchSource:
        """What the search reads of an encoded batch."""
        layer, gru = self.decoder.layer, self.decoder.layer.first.gru
        with self.decoder.autocast.on(encoded.summary):
            state = layer.start(encoded)
            products = layer.multiply_source(state, encoded).products
        initial, has_attention = state.hidden[:, 0], isinstance(layer.first, AttentiveGRU)
        mask = encoded.padding_mask if has_attention else encoded.padding_mask.new_zeros(products.shape[:2])
        keys = state.keys if has_attention else products[:, :, :0]
        dtype = self.decoder.embed_tokens.weight.dtype
        _, readout_bias = _readout_of_states(layer)
        bias = torch.cat([F.pad(gru.bias, (3 * gru.hidden_size - gru.bias.numel(), 0)), readout_bias])
        return SearchSource(initial.to(dtype), keys.to(dtype), products.to(dtype) + bias, mask, has_attention)


def _decoder_weights(decoder: Decoder) -> DecoderWeights:
    layer = decoder.layer
    gru, readout, embedding = layer.first.gru, layer.readout, decoder.embed_tokens
    attention = layer.first.attention if isinstance(layer.first, AttentiveGRU) else None
    projection = decoder.output_projection
    output = cast("list[nn.Linear]", list(projection) if isinstance(projection, nn.Sequential) else [projection])
    matrices = [
        torch.cat([whole_matrix(gru.input_weight), readout.previous_word.weight]),
        whole_matrix(gru.gate_weight),
        whole_matrix(gru.candidate_weight),
        _readout_of_states(layer)[0],
        *(linear.weight for linear in output),
        *([] if attention is None or attention.query_weight is None else [attention.query_weight]),
    ]
    dtype = DTYPES[decoder.autocast.name] or matrices[0].dtype
    return DecoderWeights(
        factors=[torch.ops.recurrent_mt.right_factor(matrix.to(dtype).t()) for matrix in matrices],
        columns=[matrix.size(0) for matrix in matrices],
        embedding=embedding.weight + embedding.bias if isinstance(embedding, BiasedEmbedding) else embedding.weight,
        output_bias=output[-1].bias,
        score=None if attention is None else attention.score,
        word_first=layer.word_first,
        norm_epsilon=None if gru.output.norm is None else gru.output.norm.eps,
    )


def _readout_of_states(layer: GRUDecoder) -> tuple[Tensor, Tensor]:
    """The readout's weight and bias for states; with layer norm, for states of mean 0 and variance 1."""
    readout, norm = layer.readout.state, layer.first.gru.output.norm
    if norm is None:
        return readout.weight, readout.bias
    return readout.weight * norm.weight, readout.bias + readout.weight @ norm.bias


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
        reason = self._reason_unsupported(sample, prefix_tokens, constraints, bos_token)
        if reason is not None:
            _log(reason)
            return super()._generate(sample, prefix_tokens, constraints, bos_token)
        with torch.no_grad():
            return self._translate(sample["net_input"])

    def _reason_unsupported(
        self, sample: dict[str, Any], prefix_tokens: Tensor | None, constraints: Tensor | None, bos_token: int | None
    ) -> str | None:
        """Says what the native search cannot do, in a few words; None if it can do everything."""
        reasons = {
            "the search is not plain beam search": type(self.search) is not BeamSearch,
            "output as long as the input is asked for": self.match_source_len,
            "prefixes are given": prefix_tokens is not None,
            "translations begin with another word": bos_token not in (None, self.eos),
            "constraints are given": constraints is not None,
            "a language model is added": self.lm_model is not None,
            "repeated n-grams are forbidden": self.repeat_ngram_blocker is not None,
            "words are suppressed": self.token_indices_to_suppress is not None,
            "there are several models": self.model.models_size != 1,
            "the source is not text": "src_tokens" not in sample["net_input"],
        }
        reason = next((reason for reason, holds in reasons.items() if holds), None)
        return reason or reason_unsupported(self.model.single_model)

    def _translate(self, net_input: dict[str, Tensor]) -> list[list[dict[str, Tensor]]]:
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
            begin=self.eos,
            end=self.eos,
            padding=self.pad,
            unknown=self.unk,
        )
        (encoded,) = self.model.forward_encoder(net_input)
        found: list[list[dict[str, Tensor]]] = [[] for _ in range(sentences)]
        for hypothesis in beam_search(self._native.weights(), self._native.source(encoded), options):
            found[hypothesis.sentence].append(self._as_fairseqs(hypothesis, encoded))
        if not all(found):
            # There, an assertion of fairseq's own search fails.
            raise RuntimeError("no translation has a probability: the model's scores are no numbers (NaN), or infinite")
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
            _log("it prints alignments")
        elif seq_gen_cls is None:
            seq_gen_cls = NativeGenerator
        return super().build_generator(models, args, seq_gen_cls=seq_gen_cls, **kwargs)
