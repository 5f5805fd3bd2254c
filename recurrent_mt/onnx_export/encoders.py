"""The encoders as operators of a graph, over the words of one sentence or, of some, of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from ..layers.grconv import WAVES, DilatedGRConv, DilatedGRConvEncoder, GRConvEncoder, GRConvWeights
from ..layers.gru import GRU, GRUEncoder
from ..layers.min_gru import MinGRU, MinGRUEncoder
from .graph import (
    Graph,
    Words,
    apply_linear,
    apply_norm,
    columns,
    gru_over_sentences,
    layer_output,
    linear,
    min_gru_over_sentences,
)


class Encoded(NamedTuple):
    """What an encoder leaves in the graph.

    Attributes:
        annotations: (S' B, D), in the order of :class:`~recurrent_mt.onnx_export.graph.Words`.
        summary: (B, C).
    """

    annotations: str
    summary: str


def encode_with_gru(graph: Graph, layer: GRUEncoder, words: Words) -> tuple[str, str]:
    """Exports :class:`recurrent_mt.layers.gru.GRUEncoder`, and that of minimal GRUs."""
    rows = words.rows
    for directions in layer.layers:
        outputs = []
        for direction, backward in zip(cast("list[GRU | MinGRU]", directions), (False, True)):
            if isinstance(direction, MinGRU):
                states = min_gru_over_sentences(graph, direction, rows, words, backward=backward)
            else:
                states = gru_over_sentences(graph, direction, rows, words, backward=backward)
            outputs.append(layer_output(graph, direction.output, states, rows))
        rows = outputs[0] if len(outputs) == 1 else graph.op("Concat", *outputs, axis=1)
    # The last word's state forward, and the first word's backward.
    first = graph.op("Range", 0, graph.op("Squeeze", words.sentences, [0]), 1)
    last = graph.op("Add", first, graph.op("Mul", graph.op("Sub", words.lengths, 1), words.sentences))
    ends = [graph.op("Gather", output, places, axis=0) for output, places in zip(outputs, (last, first))]
    chosen = {"both": ends, "forward": ends[:1], "backward": ends[1:]}[layer.summary]
    return rows, graph.op("Concat", *chosen, axis=1)


def positions_of(graph: Graph, rows: str) -> str:
    """The numbers of rows from 0, as floats."""
    count = graph.op("Squeeze", graph.op("Shape", rows, end=1), [0])
    return graph.op("Cast", graph.op("Range", 0, count, 1), to=1)


def encode_with_grconv(graph: Graph, layer: GRConvEncoder, words: Words) -> tuple[str, str]:
    """Exports :class:`recurrent_mt.layers.grconv.GRConvEncoder`."""
    leaves = apply_linear(graph, words.rows, layer.leaves)
    above = graph.op("Squeeze", graph.op("Sub", graph.op("Shape", leaves, end=1), [1]), [0])

    def rise(inner: Graph, state: Sequence[str]) -> list[str]:
        left, right = (inner.op("Slice", state[0], [start], [end], [0]) for start, end in ((0, -1), (1, 2**62)))
        nodes = merge_children(inner, layer.weights(), layer.activation, left, right)
        return [nodes, *(inner.op("Concat", known, nodes, axis=0) for known in state[1:])]

    def raise_by(levels: int, state: list[str]) -> list[str]:
        return graph.loop(rise, state, times=graph.op("Min", above, levels) if levels else above)

    (nodes,) = raise_by(layer.height, [leaves])
    summary = graph.op("ReduceMean", nodes, [0], keepdims=1)
    if not layer.annotation_height:
        return leaves, summary
    _, spans = raise_by(layer.annotation_height, [leaves, leaves])
    return spans, summary


def merge_children(graph: Graph, weights: GRConvWeights, activation: str, left: str, right: str) -> str:
    """Nodes (n, H) of their children (n, H)."""

    def product(of_left: Tensor, of_right: Tensor, bias: Tensor) -> str:
        return graph.op("Add", linear(graph, left, of_left, bias), linear(graph, right, of_right))

    candidate = product(weights.left, weights.right, weights.bias)
    gates = product(weights.gate_left, weights.gate_right, weights.gate_bias)
    candidate = graph.op({"tanh": "Tanh", "relu": "Relu"}[activation], candidate)
    shares = graph.op("Softmax", graph.op("Reshape", gates, [-1, 3, 1]), axis=1)
    choices = graph.op("Concat", *(graph.op("Unsqueeze", part, [1]) for part in (candidate, left, right)), axis=1)
    return graph.op("ReduceSum", graph.op("Mul", shares, choices), [1], keepdims=0)


def encode_with_dilated_grconv(graph: Graph, layer: DilatedGRConvEncoder, words: Words) -> tuple[str, str]:
    """Writes :class:`recurrent_mt.layers.grconv.DilatedGRConvEncoder`."""
    leaves = apply_linear(graph, words.rows, layer.leaves)
    if layer.positions is not None:
        angles = graph.op("Mul", graph.op("Unsqueeze", positions_of(graph, leaves), [1]), 0.5 ** torch.arange(WAVES))
        waves = graph.op("Mul", graph.op("Concat", graph.op("Sin", angles), graph.op("Cos", angles), axis=1), 0.1)
        leaves = graph.op("Add", leaves, apply_linear(graph, waves, layer.positions))
    size = layer.annotation_size // 2
    rows, roots = [], []
    for number, direction in enumerate(cast("list[DilatedGRConv]", layer.directions)):
        own = columns(graph, leaves, number * size, (number + 1) * size)
        nodes, sums = merge_dilated(graph, direction, reverse(graph, own) if number else own)
        roots.append(graph.op("Gather", nodes, [-1], axis=0))
        rows.append(reverse(graph, sums) if number else sums)
    annotations = graph.op("Concat", *rows, axis=1)
    if layer.summary == "max":
        return annotations, graph.op("ReduceMax", annotations, [0], keepdims=1)
    return annotations, graph.op("Concat", *roots, axis=1)


def reverse(graph: Graph, rows: str) -> str:
    """The last row first."""
    return graph.op("Slice", rows, [-1], [-(2**62)], [0], [-1])


def merge_dilated(graph: Graph, direction: DilatedGRConv, leaves: str) -> tuple[str, str]:
    """The last nodes and the sums over all levels (S, H).

    Each set of weights is a loop of one round, and the last a loop of as many as there are levels left. Besides nodes
    and sums, the loops carry the distance between children, as a float.
    """
    weights = direction.weights()
    sets = weights.left.size(0)
    # Level t is there if 2^(t-1) words are fewer than all; no text has 2^40.
    is_there = graph.op("Less", [2**level for level in range(40)], graph.op("Shape", leaves, end=1))
    levels = graph.op("ReduceSum", graph.op("Cast", is_there, to=7), [0], keepdims=0)
    if direction.height:
        levels = graph.op("Min", levels, direction.height)
    state = [leaves, leaves, graph.op("Unsqueeze", 1.0, [0])]
    for number in range(1, sets + 1):
        left = graph.op("Sub", levels, number - 1)
        rounds = left if number == sets else graph.op("Min", left, 1)
        rise = partial(raise_dilated, weights=weights.level(number))
        state = graph.loop(rise, state, times=graph.op("Max", rounds, 0))
    return state[0], state[1]


def raise_dilated(graph: Graph, state: Sequence[str], *, weights: GRConvWeights) -> list[str]:
    """One level up: the last nodes, their sums, and the distance between children."""
    nodes, sums, distance = state
    first = graph.op("Cast", distance, to=7)
    left = graph.op("Slice", nodes, [0], graph.op("Neg", first), [0])
    right, more = (graph.op("Slice", rows, first, [2**62], [0]) for rows in (nodes, sums))
    done, counted = (graph.op("Slice", rows, [0], first, [0]) for rows in (nodes, sums))
    new = merge_children(graph, weights, "tanh", left, right)
    above = graph.op("Concat", done, new, axis=0)
    return [
        above,
        graph.op("Concat", counted, graph.op("Add", more, new), axis=0),
        graph.op("Add", distance, distance),
    ]


ENCODERS: dict[type[nn.Module], Callable[..., tuple[str, str]]] = {
    GRUEncoder: encode_with_gru,
    MinGRUEncoder: encode_with_gru,
    GRConvEncoder: encode_with_grconv,
    DilatedGRConvEncoder: encode_with_dilated_grconv,
}
#: Those that read several sentences at once; the others' graphs have no padding and no masks.
READ_BATCHES = {GRUEncoder, MinGRUEncoder}


def add_encoder(graph: Graph, layer: nn.Module, norm: nn.LayerNorm | None, words: Words) -> Encoded:
    """Adds an encoder, with a norm of its output if there is one.

    Raises:
        ValueError: if the encoder is none of :data:`ENCODERS`.
    """
    if type(layer) not in ENCODERS:
        known = ", ".join(kind.__name__ for kind in ENCODERS)
        raise ValueError(f"there is no ONNX graph for the encoder {type(layer).__name__}; there is for {known}")
    encoded = Encoded(*ENCODERS[type(layer)](graph, layer, words))
    return encoded if norm is None else Encoded(*(apply_norm(graph, rows, norm) for rows in encoded))
