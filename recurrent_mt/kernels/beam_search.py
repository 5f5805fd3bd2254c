"""Beam search in C++, a batch of sources in one call: ``native/beam_search.cpp``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class DecoderWeights(NamedTuple):
    """A decoder, of one layer if it has GRUs, as the search multiplies by it.

    Where 3H numbers enter a GRU, 2H enter a minimal one. W is the width of the readout, O or, with maxout, 2O.

    Attributes:
        factors: the matrices, each as ``torch.ops.recurrent_mt.right_factor`` stores it: (E, 3H + W) of the word, for
            the recurrence and for the readout; (H, W) of the readout; (O, V) of the output, or (O, R) and (R, V); for
            additive attention, (H, A) of the query; and, of a GRU, (H, 2H) of the gates and (H, H) of the candidate,
            or of minimal GRUs, (H, 2H) of each further layer.
        columns: how many columns each has.
        embedding: (V, E).
        output_bias: (V,), or None.
        score: (A,) of additive attention, or None.
        maxout: whether the readout has maxout.
        word_first: a GRU decoder's order; see :class:`recurrent_mt.layers.decoder.GRUDecoder`.
        context_bias: (3H + W,) what is added to the products of a context.
        norm_epsilon: of layer norms of states, or None. The gain and shift of a GRU's are in the readout's matrix and
            in ``context_bias``.
        word_bias: (3H + W,) what is added to the products of a word, or None.
        is_min_gru: whether the layer is that of :class:`recurrent_mt.layers.min_gru_decoder.MinGRUDecoder`.
        second_hop: whether attention asks again after the second of minimal GRUs.
        norms: (H,) gain and shift of the layer norms of minimal GRUs: below the attention, above it, and of each
            further layer; or nothing.
        upper_biases: (2H,) of each further layer of minimal GRUs.
        shifts: (2H,) of each layer of minimal GRUs with a token shift; otherwise nothing.
    """

    factors: list[Tensor]
    columns: list[int]
    embedding: Tensor
    output_bias: Tensor | None
    score: Tensor | None
    maxout: bool
    word_first: bool
    context_bias: Tensor
    norm_epsilon: float | None
    word_bias: Tensor | None = None
    is_min_gru: bool = False
    second_hop: bool = False
    norms: Sequence[Tensor] = ()
    upper_biases: Sequence[Tensor] = ()
    shifts: Sequence[Tensor] = ()


class SearchSource(NamedTuple):
    """What the search reads.

    Attributes:
        initial: (B, H) the first states of a GRU, or (B, L H) those of L minimal ones; with a token shift (B, 3 L H),
            with zeros for what entered before.
        keys: (B, S, A) with attention.
        products: (B, S, 3H + W) the products of the annotations with what a context is multiplied by; without
            attention, (B, 1, 3H + W) those of the summary.
        padding_mask: (B, S) True on padding.
        has_attention: whether there is attention.
        allowed: (B, V) True for the words that a translation may have; None for all.
    """

    initial: Tensor
    keys: Tensor
    products: Tensor
    padding_mask: Tensor
    has_attention: bool
    allowed: Tensor | None = None


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
        ValueError: if there are no more words than the beam is wide.
    """
    sentences, lengths, scores, words, parts, attention = torch.ops.recurrent_mt.beam_search(
        *weights, *source, *options
    )
    sizes = lengths.tolist()
    attentions = attention.split(sizes) if source.has_attention else [None] * len(sizes)
    rows = zip(sentences.tolist(), scores, words.split(sizes), parts.split(sizes), attentions)
    return [Hypothesis(*row) for row in rows]
