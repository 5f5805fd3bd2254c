"""The encoders that merge neighbors level by level, as loops in a graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

from torch import Tensor

from ..layers.dilated_grconv import DilatedGRConv, DilatedGRConvEncoder
from ..layers.grconv import GRConvEncoder, GRConvWeights
from ..layers.grnn import GatedMerge, GRNNEncoder
from .graph import Graph
from .operations import apply_linear, columns, linear


def count_rows(graph: Graph, values: str) -> str:
    """Counts the rows, as (1,)."""
    return graph.op("Slice", graph.op("Shape", values), [0], [1])


def encode_with_grconv(graph: Graph, layer: GRConvEncoder, embedded: str) -> tuple[str, str]:
    """Exports :class:`recurrent_mt.layers.grconv.GRConvEncoder`."""
    leaves = apply_linear(graph, embedded, layer.leaves)
    above = graph.op("Squeeze", graph.op("Sub", count_rows(graph, leaves), [1]), [0])

    def rise(inner: Graph, state: Sequence[str]) -> tuple[None, list[str]]:
        nodes = merge_neighbors(inner, layer, state[0])
        return None, [nodes, *(inner.op("Concat", known, nodes, axis=0) for known in state[1:])]

    def raise_by(levels: int, state: list[str]) -> list[str]:
        return graph.loop(rise, state, times=graph.op("Min", above, levels) if levels else above)

    (nodes,) = raise_by(layer.height, [leaves])
    summary = graph.op("ReduceMean", nodes, [0], keepdims=1)
    if not layer.annotation_height:
        return leaves, summary
    _, spans = raise_by(layer.annotation_height, [leaves, leaves])
    return spans, summary


def merge_neighbors(graph: Graph, layer: GRConvEncoder, nodes: str) -> str:
    """One level up: (n, H) → (n − 1, H)."""
    left = graph.op("Slice", nodes, [0], [-1], [0])
    right = graph.op("Slice", nodes, [1], [2**62], [0])
    return merge_children(graph, layer.weights(), layer.activation, left, right)


def merge_children(graph: Graph, weights: GRConvWeights, activation: str, left: str, right: str) -> str:
    """Nodes (n, H) of their children (n, H)."""

    def product(of_left: Tensor, of_right: Tensor, bias: Tensor) -> str:
        return graph.op("Add", linear(graph, left, of_left, bias), linear(graph, right, of_right))

    candidate = product(weights.left, weights.right, weights.bias)
    gates = product(weights.gate_left, weights.gate_right, weights.gate_bias)
    candidate = graph.op({"tanh": "Tanh", "relu": "Relu"}[activation], candidate)
    width = weights.gate_bias.numel() // 3
    shares = graph.op("Softmax", graph.op("Reshape", gates, [-1, 3, width]), axis=1)
    choices = graph.op("Concat", *(graph.op("Unsqueeze", part, [1]) for part in (candidate, left, right)), axis=1)
    return graph.op("ReduceSum", graph.op("Mul", shares, choices), [1], keepdims=0)


def encode_with_dilated_grconv(graph: Graph, layer: DilatedGRConvEncoder, embedded: str) -> tuple[str, str]:
    """Writes :class:`recurrent_mt.layers.dilated_grconv.DilatedGRConvEncoder`."""
    leaves = apply_linear(graph, embedded, layer.leaves)
    size = layer.annotation_size // 2
    rows, roots = [], []
    for number, direction in enumerate(cast("list[DilatedGRConv]", layer.directions)):
        own = columns(graph, leaves, number * size, (number + 1) * size)
        nodes, sums = merge_dilated(graph, direction, reverse(graph, own) if number else own)
        roots.append(graph.op("Gather", nodes, [-1], axis=0))
        read = sums if layer.annotations == "sum" else nodes
        rows.append(reverse(graph, read) if number else read)
    annotations = graph.op("Concat", *rows, axis=1)
    if layer.annotations == "top_and_leaf":
        annotations = graph.op("Add", annotations, leaves)
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
    sets = max(weights.left.size(0), weights.bias.size(0))
    # Level t is there if 2^(t-1) words are fewer than all; no text has 2^40.
    is_there = graph.op("Less", [2**level for level in range(40)], count_rows(graph, leaves))
    levels = graph.op("ReduceSum", graph.op("Cast", is_there, to=7), [0], keepdims=0)
    state = [leaves, leaves, graph.op("Unsqueeze", 1.0, [0])]
    for number in range(1, sets + 1):
        left = graph.op("Sub", levels, number - 1)
        rounds = left if number == sets else graph.op("Min", left, 1)
        rise = partial(raise_dilated, weights=weights.level(number), activation=direction.activation)
        state = graph.loop(rise, state, times=graph.op("Max", rounds, 0))
    return state[0], state[1]


def raise_dilated(
    graph: Graph, state: Sequence[str], *, weights: GRConvWeights, activation: str
) -> tuple[None, list[str]]:
    """One level up: the last nodes, their sums, and the distance between children."""
    nodes, sums, distance = state
    first = graph.op("Cast", distance, to=7)
    left = graph.op("Slice", nodes, [0], graph.op("Neg", first), [0])
    right, more = (graph.op("Slice", rows, first, [2**62], [0]) for rows in (nodes, sums))
    done, counted = (graph.op("Slice", rows, [0], first, [0]) for rows in (nodes, sums))
    new = merge_children(graph, weights, activation, left, right)
    above = graph.op("Concat", done, new, axis=0)
    return None, [
        above,
        graph.op("Concat", counted, graph.op("Add", more, new), axis=0),
        graph.op("Add", distance, distance),
    ]


def encode_with_grnn(graph: Graph, layer: GRNNEncoder, embedded: str) -> tuple[str, str]:
    """Exports :class:`recurrent_mt.layers.grnn.GRNNEncoder`.

    Besides the nodes of a level, the loop carries each leaf's sum over its ancestors, and which node covers the leaf,
    as a float.
    """
    leaves = apply_linear(graph, embedded, layer.leaves)
    count = graph.op("Squeeze", count_rows(graph, leaves), [0])
    places = graph.op("Cast", graph.op("Range", 0, count, 1), to=1)

    def rise(inner: Graph, state: Sequence[str]) -> tuple[str, list[str]]:
        nodes, sums, places = state
        left, right = (inner.op("Slice", nodes, [start], [2**62], [0], [2]) for start in (0, 1))
        pairs = count_rows(inner, right)
        paired = inner.op("Slice", left, [0], pairs, [0])
        merged = merge_pair(inner, layer.merge, paired, right)
        risen = inner.op("Slice", left, pairs, [2**62], [0])
        above = inner.op("Concat", merged, risen, axis=0)
        places = inner.op("Floor", inner.op("Mul", places, 0.5))
        # A node that moved up is counted once.
        is_new = inner.op("Less", places, inner.op("Cast", pairs, to=1))
        covering = inner.op("Gather", above, inner.op("Cast", places, to=7), axis=0)
        added = inner.op("Where", inner.op("Unsqueeze", is_new, [1]), covering, 0.0)
        goes_on = inner.op("Greater", inner.op("Squeeze", count_rows(inner, above), [0]), 1)
        return goes_on, [above, inner.op("Add", sums, added), places]

    levels = graph.op("Sub", count, 1)
    root, sums, _ = graph.loop(rise, [leaves, leaves, places], times=levels)
    return sums if layer.annotations == "ancestors" else leaves, root


def merge_pair(graph: Graph, merge: GatedMerge, left: str, right: str) -> str:
    """Exports :class:`recurrent_mt.layers.grnn.GatedMerge`."""
    children = graph.op("Concat", left, right, axis=1)
    reset = graph.op("Mul", graph.op("Sigmoid", apply_linear(graph, children, merge.reset)), children)
    candidate = graph.op("Tanh", apply_linear(graph, reset, merge.candidate))
    mixed = graph.op("Concat", candidate, children, axis=1)
    parts = [-1, 3, merge.candidate.out_features]
    gates = graph.op("Softmax", graph.op("Reshape", apply_linear(graph, mixed, merge.update), parts), axis=1)
    return graph.op("ReduceSum", graph.op("Mul", gates, graph.op("Reshape", mixed, parts)), [1], keepdims=0)
