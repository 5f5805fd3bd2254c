"""``native_translation``: fairseq's translation task with the native beam search.

The whole search of a batch is one call of C++, where that can do what is asked: :class:`NativeDecoder` is what it
reads of a model.
"""

import functools
import logging
from dataclasses import dataclass, field
from typing import Any, Optional, cast

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
from recurrent_mt.layers.decoder import GRUDecoder
from recurrent_mt.layers.dropout import Dropout
from recurrent_mt.layers.encoder_output import EncoderOutput
from recurrent_mt.layers.linear import output_layers
from recurrent_mt.layers.min_gru import MinGRU
from recurrent_mt.layers.min_gru_decoder import MinGRUDecoder
from recurrent_mt.layers.weights import BiasedEmbedding, whole_matrix
from recurrent_mt.shortlist import Shortlist

from ..models.autocast import DTYPES
from ..models.encoder_decoder import EncoderDecoderModel
from ..models.model import Decoder

logger = logging.getLogger(__name__)


def reason_unsupported(model: nn.Module) -> str | None:
    """Says what keeps the native search from translating with this model, in a few words; None if nothing does."""
    if not isinstance(model, EncoderDecoderModel):
        return f"a {type(model).__name__} is not one of this plug-in's models"
    layer = model.decoder.layer
    variant = layer.below.variant if isinstance(layer, MinGRUDecoder) else layer.first.gru.variant
    weight = model.decoder.embed_tokens.weight
    reasons = {
        str(native.reason_unavailable()): native.reason_unavailable() is not None,
        "the model is not on the CPU": weight.device.type != "cpu",
        f"the model's numbers are {weight.dtype}": weight.dtype not in NATIVE_DTYPES,
        f"the model's kernels are {selected(weight)!r}": selected(weight) != "native",
        "the decoder has more than one layer of GRUs": isinstance(layer, GRUDecoder) and bool(layer.upper),
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
        read = [part.eps for part in self.decoder.modules() if isinstance(part, nn.LayerNorm)]
        for weight in self.decoder.parameters():
            read += [float(weight.detach().sum(dtype=torch.float32)), 0 if weight.is_inference() else weight._version]
        if self._weights is None or read != self._read:
            self._weights, self._read = _decoder_weights(self.decoder), read
        return self._weights

    def shortened(self, words: Tensor) -> DecoderWeights:
        """The weights for a search that knows these words alone; they are numbered by their places among them."""
        weights, outputs = self.weights(), output_layers(self.decoder.output_projection)
        output, place = outputs[-1], 1 + len(outputs)
        factors, columns = list(weights.factors), list(weights.columns)
        matrix = output.weight.index_select(0, words)
        factors[place] = torch.ops.recurrent_mt.right_factor(matrix.to(factors[place].dtype).t())
        columns[place] = words.numel()
        return weights._replace(
            factors=factors,
            columns=columns,
            embedding=weights.embedding.index_select(0, words),
            output_bias=None if output.bias is None else output.bias.index_select(0, words),
        )

    def source(self, encoded: EncoderOutput) -> SearchSource:
        """What the search reads of an encoded batch."""
        layer = self.decoder.layer
        with self.decoder.autocast.on(encoded.summary):
            state = layer.start(encoded)
            products = layer.multiply_source(state, encoded).products
        has_attention = layer.attention is not None
        mask = encoded.padding_mask if has_attention else encoded.padding_mask.new_zeros(products.shape[:2])
        keys = state.keys if has_attention else products[:, :, :0]
        dtype = self.decoder.embed_tokens.weight.dtype
        initial = torch.cat([state.hidden.flatten(1), state.earlier.flatten(1)], dim=1)
        return SearchSource(initial.to(dtype), keys.to(dtype), products.to(dtype), mask, has_attention)


def _decoder_weights(decoder: Decoder) -> DecoderWeights:
    layer = decoder.layer
    return _with_min_gru(decoder, layer) if isinstance(layer, MinGRUDecoder) else _with_gru(decoder, layer)


def _with_gru(decoder: Decoder, layer: GRUDecoder) -> DecoderWeights:
    gru, readout, norm = layer.first.gru, layer.readout.state, layer.first.gru.output.norm
    weight: Tensor = readout.weight
    bias: Tensor = readout.bias
    if norm is not None:  # then the readout reads states of mean 0 and variance 1
        weight, bias = weight * norm.weight, bias + weight @ norm.bias
    return _with(
        decoder,
        word=whole_matrix(gru.input_weight),
        readout=weight,
        states=[whole_matrix(gru.gate_weight), whole_matrix(gru.candidate_weight)],
        context_bias=torch.cat([gru.biases(), bias]),
        norm_epsilon=None if norm is None else norm.eps,
    )


def _with_min_gru(decoder: Decoder, layer: MinGRUDecoder) -> DecoderWeights:
    readout, upper = layer.readout.state, cast("list[MinGRU]", list(layer.upper))
    parts = [layer.below, layer.above, *upper]
    norms = [part.output.norm for part in parts]
    return _with(
        decoder,
        word=whole_matrix(layer.below.input_weight),
        readout=readout.weight,
        states=[whole_matrix(part.input_weight) for part in upper],
        context_bias=torch.cat([layer.above.bias, readout.bias]),
        norm_epsilon=None if norms[0] is None else norms[0].eps,
        word_bias=F.pad(layer.below.bias, (0, readout.bias.numel())),
        is_min_gru=True,
        second_hop=layer.second_hop,
        norms=[weight for norm in norms if norm is not None for weight in (norm.weight, norm.bias)],
        upper_biases=[part.bias for part in upper],
        shifts=[part.shift for part in parts if part.shift is not None],
    )


def _with(decoder: Decoder, *, word: Tensor, readout: Tensor, states: list[Tensor], **others: Any) -> DecoderWeights:
    """The weights of a decoder, of whose layer these are the matrices of words, readout, and states."""
    layer, embedding, outputs = decoder.layer, decoder.embed_tokens, output_layers(decoder.output_projection)
    query, score = (None, None) if layer.attention is None else layer.attention.weights()
    matrices = [
        torch.cat([word, layer.readout.previous_word.weight]),
        readout,
        *(linear.weight for linear in outputs),
        *([] if query is None else [query]),
        *states,
    ]
    dtype = DTYPES[decoder.autocast.name] or word.dtype
    return DecoderWeights(
        factors=[torch.ops.recurrent_mt.right_factor(matrix.to(dtype).t()) for matrix in matrices],
        columns=[matrix.size(0) for matrix in matrices],
        embedding=embedding.weight + embedding.bias if isinstance(embedding, BiasedEmbedding) else embedding.weight,
        output_bias=outputs[-1].bias,
        score=score,
        maxout=layer.readout.maxout,
        word_first=layer.word_first,
        **others,
    )


class NativeGenerator(SequenceGenerator):
    """Translates like fairseq's generator, by :mod:`recurrent_mt.kernels.beam_search`.

    What that cannot do is left to fairseq's search; the log says once what it was.

    Attributes:
        shortlist: of the words that translations may have; None for all.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shortlist: Shortlist | None = None
        self._native: NativeDecoder | None = None

    def _generate(
        self,
        sample: dict[str, Any],
        prefix_tokens: Tensor | None = None,
        constraints: Tensor | None = None,
        bos_token: int | None = None,
    ) -> list[list[dict[str, Tensor]]]:
        reason = self._reason_unsupported(sample, prefix_tokens, constraints, bos_token)
        if reason is not None and self.shortlist is not None:
            raise ValueError(f"--shortlist is for the native search, which cannot translate here: {reason}")
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
        hypotheses = self._search(self._native, self._native.source(encoded), options, net_input["src_tokens"])
        found: list[list[dict[str, Tensor]]] = [[] for _ in range(sentences)]
        for hypothesis in hypotheses:
            found[hypothesis.sentence].append(self._as_fairseqs(hypothesis, encoded))
        if not all(found):
            # There, an assertion of fairseq's own search fails.
            raise RuntimeError("no translation has a probability: the model's scores are no numbers (NaN), or infinite")
        # Stable, as the sort of fairseq's generator is for so few.
        return [sorted(hypotheses, key=lambda one: -float(one["score"])) for hypotheses in found]

    def _search(
        self, decoder: NativeDecoder, source: SearchSource, options: SearchOptions, tokens: Tensor
    ) -> list[Hypothesis]:
        """All hypotheses of a batch with these source tokens (B, S)."""
        if self.shortlist is None:
            return beam_search(decoder.weights(), source, options)
        words, allowed = map(torch.from_numpy, self.shortlist.select(tokens.numpy()))
        found = beam_search(decoder.shortened(words), source._replace(allowed=allowed), options)
        return [hypothesis._replace(words=words[hypothesis.words]) for hypothesis in found]

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
    """The options of ``translation``, and of its search."""

    shortlist: Optional[str] = field(  # noqa: UP045 (fairseq cannot read `str | None`)
        default=None,
        metadata={
            "help": "file of the target words that each source word can become, from recurrent-mt shortlist; the "
            "search scores no others (Jean et al. 2015, section 3.2)",
            "decides": None,
        },
    )


@register_task("native_translation", dataclass=NativeTranslationConfig)
class NativeTranslationTask(TranslationTask):
    """Translation whose search is compiled; see :class:`NativeGenerator`."""

    def build_generator(self, models: list[nn.Module], args: Any, seq_gen_cls: Any = None, **kwargs: Any) -> Any:
        """The native search, unless alignments are asked for, which only fairseq's own generator prints.

        Raises:
            ValueError: if alignments are asked for with a shortlist.
        """
        shortlist = getattr(self.cfg, "shortlist", None)  # published_translation has none
        if getattr(args, "print_alignment", None):
            if shortlist:
                raise ValueError("--shortlist does not go with --print-alignment: leave out one of the two")
            _log("it prints alignments")
        elif seq_gen_cls is None:
            seq_gen_cls = NativeGenerator
        generator = super().build_generator(models, args, seq_gen_cls=seq_gen_cls, **kwargs)
        if shortlist:
            generator.shortlist = Shortlist.read(
                shortlist, self.source_dictionary.symbols, self.target_dictionary.symbols
            )
        return generator
