"""The encoders that merge neighbors level by level, as loops in a graph."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ..layers.grconv import GRConvEncoder
from ..layers.grnn import GatedMerge, GRNNEncoder
from .graph import Graph
from .operations import apply_linear, linear


def count_rows(graph: Graph, values: str) -> str:
    """How many rows there are: (1,)."""
    return graph.op("Slice", graph.op("Shape", values), [0], [1])


def encode_with_grconv(graph: Graph, layer: GRConvEncoder, embedded: str) -> tuple[str, str]:
    """See :class:`recurrent_mt.layers.grconv.GRConvEncoder`."""
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

    def product(of_left: Tensor, of_right: Tensor, bias: Tensor) -> str:
        return graph.op("Add", linear(graph, left, of_left, bias), linear(graph, right, of_right))

    candidate = product(layer.left, layer.right, layer.bias)
    gates = product(layer.gate_left, layer.gate_right, layer.gate_bias)
    candidate = graph.op({"tanh": "Tanh", "relu": "Relu"}[layer.activation], candidate)
    width = layer.gate_bias.numel() // 3
    weights = graph.op("Softmax", graph.op("Reshape", gates, [-1, 3, width]), axis=1)
    choices = graph.op("Concat", *(graph.op("Unsqueeze", part, [1]) for part in (candidate, left, right)), axis=1)
    return graph.op("ReduceSum", graph.op("Mul", weights, choices), [1], keepdims=0)


def encode_with_grnn(graph: Graph, layer: GRNNEncoder, embedded: str) -> tuple[str, str]:
    """See :class:`recurrent_mt.layers.grnn.GRNNEncoder`.

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
    """See :class:`recurrent_mt.layers.grnn.GatedMerge`."""
    children = graph.op("Concat", left, right, axis=1)
    reset = graph.op("Mul", graph.op("Sigmoid", apply_linear(graph, children, merge.reset)), children)
    candidate = graph.op("Tanh", apply_linear(graph, reset, merge.candidate))
    mixed = graph.op("Concat", candidate, children, axis=1)
    parts = [-1, 3, merge.candidate.out_features]
    gates = graph.op("Softmax", graph.op("Reshape", apply_linear(graph, mixed, merge.update), parts), axis=1)
    return graph.op("ReduceSum", graph.op("Mul", gates, graph.op("Reshape", mixed, parts)), [1], keepdims=0)
