"""Beam search in C++, a batch of sources in one call: ``native/beam_search.cpp``."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class DecoderWeights(NamedTuple):
    """A decoder of one GRU layer, as the search multiplies by it.

    Attributes:
        factors: the matrices, each as ``torch.ops.recurrent_mt.right_factor`` stores it: (E, 3H + 2O) of the word, for
            the GRU and for the readout; (H, 2H) of the gates; (H, H) of the candidate; (H, 2O) of the readout; (O, V)
            of the output, or (O, R) and (R, V); and, for additive attention, (H, A) of the query.
        columns: how many columns each has.
        embedding: (V, E).
        output_bias: (V,), or None.
        score: (A,) of additive attention, or None.
        word_first: the decoder's order; see :class:`recurrent_mt.layers.decoder.GRUDecoder`.
        norm_epsilon: of a layer norm of the states that the readout sees, or None. Its gain and shift are in the
            readout's matrix and in the products of the source.
    """

    factors: list[Tensor]
    columns: list[int]
    embedding: Tensor
    output_bias: Tensor | None
    score: Tensor | None
    word_first: bool
    norm_epsilon: float | None


class SearchSource(NamedTuple):
    """What the search reads.

    Attributes:
        initial: (B, H) the first states.
        keys: (B, S, A) with attention.
        products: (B, S, 3H + 2O) the products of the annotations with what a context is multiplied by; without
            attention, (B, 1, 3H + 2O) those of the summary. They include the biases, which attention, whose weights sum
            to one, passes on as they are.
        padding_mask: (B, S) True on padding.
        has_attention: whether there is attention.
    """

    initial: Tensor
    keys: Tensor
    products: Tensor
    padding_mask: Tensor
    has_attention: bool


class SearchOptions(NamedTuple):
    """What is searched for; see fairseq's generator.

    Attributes:
        beam: hypotheses of a sentence.
        longest: words of a hypothesis, without its end, at the most.
        shortest: and at the least.
        unknown_penalty: what is subtracted from the log-probability of an unknown word.
        temperature: what scores are divided by before the softmax.
        begin: the word that a hypothesis starts from, if the attention comes first.
        end: the word that ends it.
        padding: a word that never appears.
        unknown: the unknown word.
    """

    beam: int
    longest: int
    shortest: int
    unknown_penalty: float
    temperature: float
    begin: int
    end: int
    padding: int
    unknown: int


class Hypothesis(NamedTuple):
    """A finished hypothesis of T words, its end included.

    Attributes:
        sentence: its source, from 0.
        score: the sum of its log-probabilities, penalties included.
        words: (T,).
        log_probabilities: (T,) of the words, penalties included.
        attention: (T, S), or None without attention.
    """

    sentence: int
    score: Tensor
    words: Tensor
    log_probabilities: Tensor
    attention: Tensor | None


def beam_search(weights: DecoderWeights, source: SearchSource, options: SearchOptions) -> list[Hypothesis]:
    """All finished hypotheses, in the order in which they ended.

    Raises:
        ValueError: naming the argument whose shape or format does not fit.
    """
    sentences, lengths, scores, words, parts, attention = torch.ops.recurrent_mt.beam_search(
        weights.factors,
        weights.columns,
        weights.embedding,
        weights.output_bias,
        weights.word_first,
        weights.norm_epsilon,
        source.initial,
        source.keys,
        source.products,
        source.padding_mask,
        weights.score,
        source.has_attention,
        *options,
    )
    sizes = lengths.tolist()
    attentions = attention.split(sizes) if source.has_attention else [None] * len(sizes)
    rows = zip(sentences.tolist(), scores, words.split(sizes), parts.split(sizes), attentions)
    return [Hypothesis(*row) for row in rows]
