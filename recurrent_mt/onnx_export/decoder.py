"""The decoder as operators of a graph: what is computed from the source once, and one step of several hypotheses."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from torch import nn

from ..layers.decoder import GRUDecoder
from ..layers.gru import GRU
from ..layers.linear import output_layers
from ..layers.min_gru import MinGRU
from ..layers.min_gru_decoder import MinGRUDecoder
from .encoders import Encoded
from .graph import (
    Graph,
    LinearLayer,
    Words,
    apply_linear,
    columns,
    gru_step,
    input_layer,
    layer_output,
    linear,
    linears,
    min_gru_step,
    project_inputs,
)

#: The score of a place without an annotation: its share in the softmax is exactly zero.
NOTHING = -1e30
#: How far a score can be below the best: of the softmax, a word there has less than a float can tell.
FURTHEST = -60.0
#: Weights of a context from which on it takes longer to multiply what is read at each step than to read the products of
#: all annotations, which are made once.
MOST_WEIGHTS = 2**20


class Source(NamedTuple):
    """What each step reads: see :class:`recurrent_mt.layers.decoder.DecoderState`.

    Attributes:
        keys: (B, S', A).
        values: (B, S', C) the annotations, or (B, S', P) their products with every weight that a context is multiplied
            by: see :func:`reads_products`.
        present: (B, S') where there is an annotation, in a step; empty before.
    """

    keys: str
    values: str
    present: str = ""


AnyDecoder = GRUDecoder | MinGRUDecoder


def state_shapes(decoder: AnyDecoder) -> dict[str, list[Any]]:
    """What a hypothesis carries from step to step, by name; N hypotheses vary. The layers' states are side by side."""
    if isinstance(decoder, MinGRUDecoder):
        width = (len(decoder.upper) + 2) * decoder.size
        entered = {} if decoder.below.shift is None else {"entered": ["N", 2 * width]}
        return {"hidden": ["N", width], **entered}
    shapes: dict[str, list[Any]] = {"hidden": ["N", (len(decoder.upper) + 1) * decoder.first.gru.hidden_size]}
    if decoder.word_first and decoder.attention is not None:
        shapes["context"] = ["N", entering_width(decoder)]
    return shapes


def entering_width(decoder: AnyDecoder) -> int:
    """The width of what enters a recurrence: its gates and its candidate."""
    return 2 * decoder.size if isinstance(decoder, MinGRUDecoder) else 3 * decoder.first.gru.hidden_size


def products_width(decoder: AnyDecoder) -> int:
    """P, the width of the products of a context: those that enter the recurrence, and those of the readout."""
    return entering_width(decoder) + decoder.readout.width


def prepare_source(graph: Graph, decoder: AnyDecoder, encoded: Encoded, words: Words) -> tuple[Source, dict[str, str]]:
    """The source as every step reads it, and the state before the first step of a hypothesis each, by name."""
    attention, shapes = decoder.attention, state_shapes(decoder)
    readable = encoded.summary if attention is None else encoded.annotations
    values = readable
    if reads_products(decoder):
        values = graph.op("Concat", *linears(graph, readable, *context_layers(decoder)), axis=1)
    keys = readable
    if attention is not None:
        keys = readable if attention.key is None else apply_linear(graph, readable, attention.key)
        keys = keys if attention.scale == 1 else graph.op("Mul", keys, attention.scale)
    hidden = graph.op("Tanh", apply_linear(graph, encoded.summary, decoder.initial))
    state = {"hidden": hidden}
    for name in shapes.keys() - state:
        state[name] = graph.op("Expand", 0.0, graph.op("Concat", words.sentences, shapes[name][1:], axis=0))

    def by_sentence(rows: str) -> str:
        """(S' B, A) as (B, S', A)."""
        width = graph.op("Shape", rows, start=1, end=2)
        shape = graph.op("Concat", [-1], words.sentences, width, axis=0)
        return graph.op("Transpose", graph.op("Reshape", rows, shape), perm=[1, 0, 2])

    return Source(by_sentence(keys), by_sentence(values)), state


def reads_products(decoder: AnyDecoder) -> bool:
    """Whether annotations are multiplied once, not the context at each step: without attention, or of many weights."""
    weights = products_width(decoder) * decoder.readout.context.in_features
    return decoder.attention is None or weights > MOST_WEIGHTS


def context_layers(decoder: AnyDecoder) -> list[LinearLayer]:
    """By what a context is multiplied: on its way into the recurrence, and in the readout."""
    entering = decoder.above.input_weight if isinstance(decoder, MinGRUDecoder) else decoder.first.context_weight
    return [(entering, None), (decoder.readout.context.weight, None)]


class DecoderStep:
    """What the steps of all decoders have in common.

    Args:
        graph: under construction.
        decoder: the layer.
        source: what to read.
    """

    decoder: AnyDecoder
    alive: str | None = None

    def __init__(self, graph: Graph, decoder: AnyDecoder, source: Source) -> None:
        self.graph, self.decoder, self.source = graph, decoder, source
        self.attention, self.readout = decoder.attention, decoder.readout

    def read_word(self, embedded: str, layer: GRU | MinGRU) -> list[str]:
        """What a word (N, E) brings to a layer and to the readout, for which there is no word at the beginning."""
        entering, word = linears(self.graph, embedded, input_layer(layer), (self.readout.previous_word.weight, None))
        return [entering, word if self.alive is None else self.graph.op("Mul", word, self.alive)]

    def attend(self, queries: str) -> str:
        """The contexts (N, C) of queries (N, H), or their products (N, P): see :func:`reads_products`."""
        graph, (keys, values, present), attention = self.graph, self.source, self.attention
        sentences = graph.op("Shape", values, end=1)
        if attention is None:
            hypotheses = graph.op("Div", graph.op("Shape", queries, end=1), sentences)
            summed = graph.op("Expand", values, graph.op("Concat", sentences, hypotheses, [1], axis=0))
            return graph.op("Reshape", summed, [-1, products_width(self.decoder)])
        weight = attention.query_weight
        units = self.readout.state.in_features if weight is None else weight.size(0)
        query = queries if weight is None else linear(graph, queries, weight)
        query = graph.op("Reshape", query, graph.op("Concat", sentences, [-1, units], axis=0))  # (B, k, A)
        if attention.score is None:
            scores = graph.op("MatMul", query, graph.op("Transpose", keys, perm=[0, 2, 1]))
        else:
            pairs = graph.op("Add", graph.op("Unsqueeze", query, [2]), graph.op("Unsqueeze", keys, [1]))
            scores = graph.op("MatMul", graph.op("Tanh", pairs), attention.score)
        scores = graph.op("Where", graph.op("Unsqueeze", present, [1]), scores, NOTHING)  # (B, k, S')
        contexts = graph.op("MatMul", graph.op("Softmax", scores, axis=-1), values)
        width = products_width(self.decoder) if reads_products(self.decoder) else self.readout.context.in_features
        return graph.op("Reshape", contexts, [-1, width])

    def read_context(self, context: str, part: slice = slice(None)) -> list[str]:
        """What :meth:`attend` finds, as it enters the recurrence and as it is read out, or one of both."""
        if not reads_products(self.decoder):
            return linears(self.graph, context, *context_layers(self.decoder)[part])
        width = entering_width(self.decoder)
        return [columns(self.graph, context, *ends) for ends in [(0, width), (width, 2**62)][part]]

    def read_out(self, states: str, word: str, context: str) -> str:
        """Exports :class:`recurrent_mt.layers.decoder.Readout`."""
        graph, readout = self.graph, self.readout
        sums = graph.op("Sum", apply_linear(graph, states, readout.state), word, context)
        if not readout.maxout:
            return sums
        units = graph.op("Reshape", sums, [0, readout.width // 2, 2])
        return graph.op("ReduceMax", units, [2], keepdims=0)


class GRUStep(DecoderStep):
    """One step of N hypotheses: see :meth:`recurrent_mt.layers.decoder.GRUDecoder.step`.

    If the word comes first, a step that reads the begin symbol leaves the states as they are.

    Args:
        graph: under construction.
        decoder: the layer.
        source: what to read.
        begins: (N, 1) where the word that is read is the begin symbol.
    """

    decoder: GRUDecoder

    def __init__(self, graph: Graph, decoder: GRUDecoder, source: Source, begins: str) -> None:
        super().__init__(graph, decoder, source)
        self.begins = begins if decoder.word_first else None
        self.alive = graph.op("Cast", graph.op("Not", begins), to=1) if decoder.word_first else None

    def __call__(self, embedded: str, state: dict[str, str]) -> tuple[str, dict[str, str]]:
        """The features (N, O) and the next state, after the words (N, E) and the state before."""
        graph, decoder = self.graph, self.decoder
        gru = decoder.first.gru
        before = split_layers(graph, state["hidden"], len(decoder.upper) + 1)
        entering, word = self.read_word(embedded, gru)
        read_before = "context" in state
        if read_before:
            context = state["context"]
        else:
            context, read = self.read_context(self.attend(before[0]))
        inputs = graph.op("Add", entering, context)
        layers, rows = [], embedded
        for layer, last in zip([gru, *cast("list[GRU]", decoder.upper)], before):
            if layer is not gru:
                inputs = project_inputs(graph, layer, rows)
            states = gru_step(graph, layer, inputs, last)
            if self.begins is not None:
                states = graph.op("Where", self.begins, last, states)
            layers.append(states)
            rows = layer_output(graph, layer.output, states, rows, self.alive)
        following = {"hidden": graph.op("Concat", *layers, axis=1)}
        if read_before:
            following["context"], read = self.read_context(self.attend(layers[0]))
        return self.read_out(rows, word, read), following


class MinGRUStep(DecoderStep):
    """One step of N hypotheses: see :meth:`recurrent_mt.layers.min_gru_decoder.MinGRUDecoder.step`."""

    decoder: MinGRUDecoder

    def __call__(self, embedded: str, state: dict[str, str]) -> tuple[str, dict[str, str]]:
        """The features (N, O) and the next state, after the words (N, E) and the state before."""
        graph, decoder = self.graph, self.decoder
        layers: list[str] = []
        entered: list[str] = []
        before = {name: split_layers(graph, states, len(decoder.upper) + 2) for name, states in state.items()}

        def advance(layer: MinGRU, inputs: str) -> str:
            number = len(layers)
            entered.append(inputs)
            if layer.shift is not None:
                earlier = graph.op("Mul", before["entered"][number], layer.shift)
                inputs = graph.op("Add", inputs, earlier)
            layers.append(min_gru_step(graph, inputs, before["hidden"][number], decoder.size))
            return layers[-1]

        entering, word = self.read_word(embedded, decoder.below)
        top = layer_output(graph, decoder.below.output, advance(decoder.below, entering), embedded)
        context = self.attend(top)
        entering, *read = self.read_context(context, slice(1) if decoder.second_hop else slice(2))
        translated = advance(decoder.above, graph.op("Add", entering, decoder.above.bias))
        top = graph.op("Add", top, layer_output(graph, decoder.above.output, translated, context))
        if decoder.second_hop:
            read = self.read_context(self.attend(top), slice(1, 2))
        for layer in cast("list[MinGRU]", decoder.upper):
            states = advance(layer, project_inputs(graph, layer, top))
            top = graph.op("Add", top, layer_output(graph, layer.output, states, top))
        following = {name: graph.op("Concat", *found, axis=1) for name, found in zip(state, (layers, entered))}
        return self.read_out(top, word, *read), following


def split_layers(graph: Graph, states: str, count: int) -> list[str]:
    """The states (N, H) of each layer."""
    return [states] if count == 1 else graph.op("Split", states, axis=1, num_outputs=count, count=count)


def select_outputs(graph: Graph, output: nn.Module, words: str) -> dict[str, str]:
    """Of the last layer of the output, what belongs to some words (V',), by name."""
    last = output_layers(output)[-1]
    selected = graph.select(last.weight, words)
    return selected if last.bias is None else {**selected, "bias": graph.op("Gather", last.bias, words)}


def score_words(graph: Graph, features: str, output: nn.Module) -> str:
    """The log-probabilities (N, V) of all words, to which ``forbidden`` (V,) is added."""
    for layer in output_layers(output):
        features = apply_linear(graph, features, layer)
    scores = graph.op("LogSoftmax", features, axis=-1)
    return graph.op("Add", scores, graph.input("forbidden", "float", ["V"]))


def score_selected(graph: Graph, features: str, output: nn.Module) -> str:
    """The log-probabilities (N, W) of the words that each sentence may have: those of its ``choices`` (B, 1, W).

    ``forbidden`` (B, 1, W) is added to them; ``output_bias`` is −∞ where a sentence has fewer than W.
    All hypotheses are multiplied by all words of :func:`select_outputs`; what follows is computed for a sentence's own.
    """
    *others, last = output_layers(output)
    for layer in others:
        features = apply_linear(graph, features, layer)
    choices = graph.input("choices", "int", ["B", 1, "W"])
    sentences = graph.op("Shape", choices, end=1)
    rows = graph.op("Reshape", features, graph.op("Concat", sentences, [-1, last.in_features], axis=0))  # (B, k, O)
    hypotheses = graph.op("Shape", rows, start=1, end=2)
    choices = graph.op("Expand", choices, graph.op("Concat", [1], hypotheses, [1], axis=0))
    scores = graph.multiply_selected(rows, lambda products: graph.op("GatherElements", products, choices, axis=2))
    scores = graph.op("Add", scores, graph.input("output_bias", "float", ["B", 1, "W"]))
    # Where a share of the softmax is no normal number, onnxruntime takes eight times as long.
    distance = graph.op("Sub", scores, graph.op("ReduceMax", scores, [-1], keepdims=1))
    scores = graph.op("LogSoftmax", graph.op("Max", distance, FURTHEST), axis=-1)
    return graph.op("Flatten", graph.op("Add", scores, graph.input("forbidden", "float", ["B", 1, "W"])), axis=2)
