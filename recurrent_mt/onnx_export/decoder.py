"""The decoder as operators of a graph: what is computed from the source once, and one step of several hypotheses."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import torch
from torch import nn

from ..layers.conditioned_gru import AttentiveGRU
from ..layers.decoder import GRUDecoder
from ..layers.gru import GRU
from .encoders import Encoded
from .graph import (
    Graph,
    apply_linear,
    columns,
    gru_step,
    layer_output,
    linear,
    project_inputs,
)

#: The score of a place without an annotation: its share in the softmax is exactly zero.
NOTHING = -1e30


class Source(NamedTuple):
    """What each step reads: see :class:`recurrent_mt.layers.decoder.DecoderState`.

    Attributes:
        keys: (…, S', A).
        values: (…, S', P) the products of the annotations with every weight that a context is multiplied by.
        present: (B, S') where there is an annotation, in a step; empty before.
    """

    keys: str
    values: str
    present: str = ""


def state_shapes(decoder: GRUDecoder) -> dict[str, list[Any]]:
    """What a hypothesis carries from step to step, by name; N hypotheses vary."""
    layers, size = len(decoder.upper) + 1, decoder.first.gru.hidden_size
    shapes: dict[str, list[Any]] = {"hidden": ["N", layers, size]}
    if decoder.word_first and decoder.first.has_attention:
        shapes["context"] = ["N", 3 * size + decoder.readout.state.out_features]
    return shapes


def prepare_source(graph: Graph, decoder: GRUDecoder, encoded: Encoded) -> tuple[Source, dict[str, str]]:
    """The source as every step reads it, and the state before the first step of one hypothesis, by name."""
    first, shapes = decoder.first, state_shapes(decoder)
    readable = encoded.annotations if first.has_attention else encoded.summary
    values = [linear(graph, readable, first.context_weight), apply_linear(graph, readable, decoder.readout.context)]
    keys = readable
    if isinstance(first, AttentiveGRU):
        attention = first.attention
        keys = readable if attention.key is None else apply_linear(graph, readable, attention.key)
        keys = keys if attention.scale == 1 else graph.op("Mul", keys, attention.scale)
    hidden = graph.op("Tanh", apply_linear(graph, encoded.summary, decoder.initial))
    hidden = graph.op("Reshape", hidden, [1, *shapes["hidden"][1:]])
    state = {"hidden": hidden}
    if "context" in shapes:
        state["context"] = graph.op("Identity", torch.zeros(1, shapes["context"][1]))
    return Source(keys, graph.op("Concat", *values, axis=1)), state


class Step:
    """One step of N hypotheses: see :meth:`recurrent_mt.layers.decoder.GRUDecoder.step`.

    If the word comes first, a step that reads the begin symbol leaves the states as they are.

    Args:
        graph: under construction.
        decoder: the layer.
        source: what to read.
        begins: (N, 1) where the word that is read is the begin symbol.
    """

    def __init__(self, graph: Graph, decoder: GRUDecoder, source: Source, begins: str) -> None:
        self.graph, self.decoder, self.source = graph, decoder, source
        self.begins = begins if decoder.word_first else None
        self.alive = graph.op("Cast", graph.op("Not", begins), to=1) if decoder.word_first else None

    def __call__(self, embedded: str, state: dict[str, str]) -> tuple[str, dict[str, str]]:
        """The features (N, O) and the next state, after the words (N, E) and the state before."""
        graph, decoder = self.graph, self.decoder
        gru = decoder.first.gru
        before = [graph.op("Gather", state["hidden"], layer, axis=1) for layer in range(len(decoder.upper) + 1)]
        read_before = "context" in state
        context = state["context"] if read_before else self._read(before[0])
        width = 3 * gru.hidden_size
        inputs = graph.op("Add", project_inputs(graph, gru, embedded), columns(graph, context, 0, width))
        layers, rows = [], embedded
        for layer, last in zip([gru, *cast("list[GRU]", decoder.upper)], before):
            if layer is not gru:
                inputs = project_inputs(graph, layer, rows)
            states = gru_step(graph, layer, inputs, last)
            if self.begins is not None:
                states = graph.op("Where", self.begins, last, states)
            layers.append(states)
            rows = layer_output(graph, layer.output, states, rows, self.alive)
        following = {"hidden": graph.op("Concat", *(graph.op("Unsqueeze", x, [1]) for x in layers), axis=1)}
        if read_before:
            context = following["context"] = self._read(layers[0])
        return self._read_out(rows, embedded, columns(graph, context, width, 2**62)), following

    def _read(self, previous: str) -> str:
        """The sum (N, P) of the values under the attention of what enters a step (N, H)."""
        graph, (keys, values, present), first = self.graph, self.source, self.decoder.first
        sentences = graph.op("Slice", graph.op("Shape", values), [0], [1])
        if not isinstance(first, AttentiveGRU):
            summed = graph.op(
                "Expand", values, graph.op("Concat", sentences, self._beam(previous, sentences), [1], axis=0)
            )
            return graph.op("Reshape", summed, [-1, self._width()])
        attention = first.attention
        query = previous if attention.query_weight is None else linear(graph, previous, attention.query_weight)
        shape = graph.op("Concat", sentences, [-1, attention_width(first)], axis=0)
        query = graph.op("Reshape", query, shape)  # (B, k, A)
        if attention.score is None:
            scores = graph.op("MatMul", query, graph.op("Transpose", keys, perm=[0, 2, 1]))
        else:
            pairs = graph.op("Add", graph.op("Unsqueeze", query, [2]), graph.op("Unsqueeze", keys, [1]))
            scores = graph.op("MatMul", graph.op("Tanh", pairs), attention.score)
        scores = graph.op("Where", graph.op("Unsqueeze", present, [1]), scores, NOTHING)  # (B, k, S')
        summed = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), values)
        return graph.op("Reshape", summed, [-1, self._width()])

    def _beam(self, rows: str, sentences: str) -> str:
        hypotheses = self.graph.op("Slice", self.graph.op("Shape", rows), [0], [1])
        return self.graph.op("Div", hypotheses, sentences)

    def _width(self) -> int:
        return 3 * self.decoder.first.gru.hidden_size + self.decoder.readout.state.out_features

    def _read_out(self, states: str, embedded: str, context: str) -> str:
        """Exports :class:`recurrent_mt.layers.decoder.MaxoutReadout`; there is no previous word at the beginning."""
        graph, readout = self.graph, self.decoder.readout
        word = apply_linear(graph, embedded, readout.previous_word)
        if self.alive is not None:
            word = graph.op("Mul", word, self.alive)
        pairs = graph.op("Sum", apply_linear(graph, states, readout.state), word, context)
        units = graph.op("Reshape", pairs, [0, readout.state.out_features // 2, 2])
        return graph.op("ReduceMax", units, [2], keepdims=0)


def attention_width(first: AttentiveGRU) -> int:
    """A, the width of keys and queries."""
    return first.gru.hidden_size if first.attention.query_weight is None else first.attention.query_weight.size(0)


def score_words(graph: Graph, features: str, output: nn.Module) -> str:
    """The log-probabilities (N, V) of all words."""
    for layer in output if isinstance(output, nn.Sequential) else [output]:
        features = apply_linear(graph, features, layer)
    return graph.op("LogSoftmax", features, axis=-1)
