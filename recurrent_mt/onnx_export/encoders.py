"""The encoders as operators of a graph, over the words of one sentence: no padding and no masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from ..layers.attention import EncoderSelfAttention
from ..layers.grconv import WAVES, DilatedGRConv, DilatedGRConvEncoder, GRConvEncoder, GRConvWeights
from ..layers.grid import ChannelNorm, Convolution
from ..layers.grnn import GatedMerge, GRNNEncoder
from ..layers.gru import GRU, GRUEncoder
from ..layers.hourglass import AttentionGate, ConvolutionPair, HourglassEncoder, ResidualStage, UNetEncoder, VNetEncoder
from ..layers.separable_convolution import SeparableConvolution, SeparableConvolutionEncoder, sinusoids
from .graph import (
    Graph,
    apply_linear,
    apply_norm,
    columns,
    gru_over_sentence,
    layer_output,
    linear,
    merge_heads,
    softmax_attention,
)


class Encoded(NamedTuple):
    """What an encoder leaves in the graph.

    Attributes:
        annotations: (S', D).
        summary: (1, C).
    """

    annotations: str
    summary: str


def encode_with_gru(graph: Graph, layer: GRUEncoder, embedded: str) -> tuple[str, str]:
    """Exports :class:`recurrent_mt.layers.gru.GRUEncoder`."""
    rows = embedded
    for directions in layer.layers:
        outputs = [
            layer_output(graph, direction.output, gru_over_sentence(graph, direction, rows, backward=backward), rows)
            for direction, backward in zip(cast("list[GRU]", directions), (False, True))
        ]
        rows = outputs[0] if len(outputs) == 1 else graph.op("Concat", *outputs, axis=1)
    # The last word's state forward, and the first word's backward.
    ends = [graph.op("Gather", output, [place], axis=0) for output, place in zip(outputs, (-1, 0))]
    chosen = {"both": ends, "forward": ends[:1], "backward": ends[1:]}[layer.summary]
    return rows, graph.op("Concat", *chosen, axis=1)


def count_rows(graph: Graph, values: str) -> str:
    """Counts the rows, as (1,)."""
    return graph.op("Slice", graph.op("Shape", values), [0], [1])


def positions_of(graph: Graph, rows: str) -> str:
    """The numbers of rows from 0, as floats."""
    count = graph.op("Squeeze", count_rows(graph, rows), [0])
    return graph.op("Cast", graph.op("Range", 0, count, 1), to=1)


def encode_with_grconv(graph: Graph, layer: GRConvEncoder, embedded: str) -> tuple[str, str]:
    """Exports :class:`recurrent_mt.layers.grconv.GRConvEncoder`."""
    leaves = apply_linear(graph, embedded, layer.leaves)
    above = graph.op("Squeeze", graph.op("Sub", count_rows(graph, leaves), [1]), [0])

    def rise(inner: Graph, state: Sequence[str]) -> tuple[None, list[str]]:
        left, right = (inner.op("Slice", state[0], [start], [end], [0]) for start, end in ((0, -1), (1, 2**62)))
        nodes = merge_children(inner, layer.weights(), layer.activation, left, right)
        return None, [nodes, *(inner.op("Concat", known, nodes, axis=0) for known in state[1:])]

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


def encode_with_dilated_grconv(graph: Graph, layer: DilatedGRConvEncoder, embedded: str) -> tuple[str, str]:
    """Writes :class:`recurrent_mt.layers.grconv.DilatedGRConvEncoder`."""
    leaves = apply_linear(graph, embedded, layer.leaves)
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
    is_there = graph.op("Less", [2**level for level in range(40)], count_rows(graph, leaves))
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


def raise_dilated(graph: Graph, state: Sequence[str], *, weights: GRConvWeights) -> tuple[None, list[str]]:
    """One level up: the last nodes, their sums, and the distance between children."""
    nodes, sums, distance = state
    first = graph.op("Cast", distance, to=7)
    left = graph.op("Slice", nodes, [0], graph.op("Neg", first), [0])
    right, more = (graph.op("Slice", rows, first, [2**62], [0]) for rows in (nodes, sums))
    done, counted = (graph.op("Slice", rows, [0], first, [0]) for rows in (nodes, sums))
    new = merge_children(graph, weights, "tanh", left, right)
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
    places = positions_of(graph, leaves)

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


def as_grid(graph: Graph, rows: str) -> str:
    """Turns rows (L, C) into a grid (1, C, L)."""
    return graph.op("Unsqueeze", graph.op("Transpose", rows, perm=[1, 0]), [0])


def as_rows(graph: Graph, grid: str) -> str:
    """Turns a grid (1, C, L) into rows (L, C)."""
    return graph.op("Transpose", graph.op("Squeeze", grid, [0]), perm=[1, 0])


def convolve(graph: Graph, grid: str, layer: nn.Conv1d, padding: int = 0) -> str:
    """Exports a convolution over a grid."""
    weights = [layer.weight] if layer.bias is None else [layer.weight, layer.bias]
    options = {"group": layer.groups, "strides": list(layer.stride), "pads": [padding, padding]}
    return graph.op("Conv", grid, *weights, **options)


def normalize(graph: Graph, grid: str, norm: nn.Module) -> str:
    """A norm over the channels of each position, or none."""
    if not isinstance(norm, ChannelNorm):
        return grid
    return graph.op("Transpose", apply_norm(graph, graph.op("Transpose", grid, perm=[0, 2, 1]), norm), perm=[0, 2, 1])


def keep_length(graph: Graph, grid: str, layer: Convolution) -> str:
    """Exports :class:`recurrent_mt.layers.grid.Convolution`."""
    width = layer.convolution.weight.size(2)
    return normalize(graph, convolve(graph, grid, layer.convolution, width // 2), layer.norm)


def rectify(graph: Graph, grid: str, slopes: nn.PReLU) -> str:
    """A rectifier with a slope for each channel."""
    return graph.op("PRelu", grid, slopes.weight.detach()[:, None])


def length_of(graph: Graph, grid: str) -> str:
    """Returns the length L of a grid, as (1,)."""
    return graph.op("Slice", graph.op("Shape", grid), [2], [3])


def double(graph: Graph, grid: str, convolution: nn.ConvTranspose1d, like: str) -> str:
    """Exports :class:`recurrent_mt.layers.hourglass.Upsampling`; the result is as long as the grid ``like``."""
    raised = graph.op("ConvTranspose", grid, convolution.weight, convolution.bias, strides=[2])
    return graph.op("Slice", raised, [0], length_of(graph, like), [2])


def mean_of_positions(graph: Graph, grid: str) -> str:
    """Averages a grid over its positions: (1, C)."""
    return graph.op("ReduceMean", grid, [2], keepdims=0)


def encode_with_separable_convolutions(
    graph: Graph, layer: SeparableConvolutionEncoder, embedded: str, *, longest: int
) -> tuple[str, str]:
    """Exports :class:`recurrent_mt.layers.separable_convolution.SeparableConvolutionEncoder`.

    The graph holds the sinusoids of the ``longest`` sentence.
    """
    rows = apply_norm(graph, apply_linear(graph, embedded, layer.words), layer.norm)
    if layer.positions:
        places = sinusoids(longest, layer.annotation_size, like=layer.norm.weight.detach())
        rows = graph.op("Add", rows, graph.op("Slice", places, [0], count_rows(graph, rows), [0]))
    for module in layer.modules_of_steps:
        hidden, steps = rows, list(module.steps)
        for number, step in enumerate(steps, start=1):
            grid = as_grid(graph, graph.op("Relu", hidden))
            parts: list[Any] = [step.convolution]
            if isinstance(step.convolution, SeparableConvolution):
                parts = [step.convolution.depthwise, step.convolution.pointwise]
            for part in parts:
                grid = keep_length(graph, grid, part)
            hidden = apply_norm(graph, as_rows(graph, grid), step.norm)
            if number % 2 == 0 or number == len(steps):
                hidden = graph.op("Add", rows, hidden)
        rows = hidden
    mean = graph.op("ReduceMean", rows, [0], keepdims=1)
    return rows, graph.op("Tanh", apply_linear(graph, mean, layer.summary))


def encode_with_unet(graph: Graph, layer: UNetEncoder, embedded: str) -> tuple[str, str]:
    """Exports :class:`recurrent_mt.layers.hourglass.UNetEncoder`."""

    def pair(grid: str, convolutions: ConvolutionPair) -> str:
        for part in (convolutions.first, convolutions.second):
            grid = graph.op("Relu", keep_length(graph, grid, part))
        return grid

    words = apply_norm(graph, apply_linear(graph, embedded, layer.words), layer.norm)
    reached = [pair(as_grid(graph, words), layer.down[0])]
    for convolutions in list(layer.down)[1:]:
        below = graph.op("MaxPool", reached[-1], kernel_shape=[2], strides=[2], ceil_mode=1)
        reached.append(pair(below, convolutions))
    grid = reached[-1]
    for level in reversed(range(layer.depth)):
        skip = reached[level]
        if layer.gates is not None:
            skip = gate(graph, layer.gates[level], skip, grid)
        raised = double(graph, grid, layer.upsampling[level].convolution, skip)
        grid = pair(graph.op("Concat", skip, raised, axis=1), layer.up[level])
    return finish_hourglass(graph, layer, words, bottom=reached[-1], top=grid)


def gate(graph: Graph, layer: AttentionGate, skip: str, below: str) -> str:
    """Exports :class:`recurrent_mt.layers.hourglass.AttentionGate`."""
    length = graph.op("Squeeze", length_of(graph, skip), [0])
    halves = graph.op("Div", graph.op("Range", 0, length, 1), 2)
    gating = graph.op("Gather", convolve(graph, below, layer.gating), halves, axis=2)
    inner = graph.op("Relu", graph.op("Add", convolve(graph, skip, layer.skip), gating))
    return graph.op("Mul", skip, graph.op("Sigmoid", convolve(graph, inner, layer.score)))


def encode_with_vnet(graph: Graph, layer: VNetEncoder, embedded: str) -> tuple[str, str]:
    """Exports :class:`recurrent_mt.layers.hourglass.VNetEncoder`."""

    def stage(grid: str, convolutions: ResidualStage) -> str:
        hidden = grid
        parts = list(zip(convolutions.convolutions, convolutions.norms, convolutions.activations))
        for number, (convolution, norm, slopes) in enumerate(parts, start=1):
            hidden = keep_length(graph, hidden, convolution)
            if number == len(parts):
                hidden = graph.op("Add", hidden, grid)
            hidden = rectify(graph, normalize(graph, hidden, norm), slopes)
        return hidden

    words = apply_norm(graph, apply_linear(graph, embedded, layer.words), layer.norm)
    reached = [stage(as_grid(graph, words), layer.down[0])]
    for down, convolutions in zip(layer.downsampling, list(layer.down)[1:]):
        odd = graph.op("Mod", length_of(graph, reached[-1]), [2])
        even = graph.op("Pad", reached[-1], graph.op("Concat", [0] * 5, odd, axis=0))
        below = normalize(graph, convolve(graph, even, down.convolution), down.norm)
        reached.append(stage(rectify(graph, below, down.activation), convolutions))
    grid = reached[-1]
    for level in reversed(range(layer.depth)):
        raised = double(graph, grid, layer.upsampling[level].convolution, reached[level])
        raised = rectify(graph, normalize(graph, raised, layer.norms[level]), layer.activations[level])
        grid = stage(graph.op("Concat", raised, reached[level], axis=1), layer.up[level])
    return finish_hourglass(graph, layer, words, bottom=reached[-1], top=grid)


def finish_hourglass(graph: Graph, layer: HourglassEncoder, words: str, *, bottom: str, top: str) -> tuple[str, str]:
    """From the grids at the bottom and at the top to annotations and summary."""
    rows = apply_linear(graph, as_rows(graph, top), layer.annotations)
    annotations = graph.op("Tanh", graph.op("Add", rows, words) if layer.word_residual else rows)
    means = mean_of_positions(graph, bottom), graph.op("ReduceMean", annotations, [0], keepdims=1)
    return annotations, graph.op("Tanh", apply_linear(graph, graph.op("Concat", *means, axis=1), layer.summary))


ENCODERS: dict[type[nn.Module], Callable[..., tuple[str, str]]] = {
    GRUEncoder: encode_with_gru,
    GRConvEncoder: encode_with_grconv,
    DilatedGRConvEncoder: encode_with_dilated_grconv,
    GRNNEncoder: encode_with_grnn,
    SeparableConvolutionEncoder: encode_with_separable_convolutions,
    UNetEncoder: encode_with_unet,
    VNetEncoder: encode_with_vnet,
}


def encode(
    graph: Graph,
    layer: nn.Module,
    norm: nn.LayerNorm | None,
    attention: EncoderSelfAttention | None,
    embedded: str,
    *,
    longest: int,
) -> Encoded:
    """Adds an encoder.

    Args:
        graph: under construction.
        layer: the encoder's.
        norm: of its output, or None.
        attention: over its output, or None.
        embedded: (S, E) the words.
        longest: the largest S.

    Raises:
        ValueError: if the encoder is none of :data:`ENCODERS`.
    """
    if type(layer) not in ENCODERS:
        known = ", ".join(kind.__name__ for kind in ENCODERS)
        raise ValueError(f"there is no ONNX graph for the encoder {type(layer).__name__}; there is for {known}")
    options = {"longest": longest} if isinstance(layer, SeparableConvolutionEncoder) else {}
    encoded = Encoded(*ENCODERS[type(layer)](graph, layer, embedded, **options))
    if norm is not None:
        encoded = Encoded(*(apply_norm(graph, rows, norm) for rows in encoded))
    return encoded if attention is None else attend_to_itself(graph, attention, encoded)


def attend_to_itself(graph: Graph, layer: EncoderSelfAttention, encoded: Encoded) -> Encoded:
    """Exports :class:`recurrent_mt.layers.attention.EncoderSelfAttention`."""
    states = encoded.summary if layer.of_summary else encoded.annotations
    queries, memory = (
        graph.op("Unsqueeze", apply_linear(graph, rows, part), [0])
        for rows, part in ((states, layer.query), (encoded.annotations, layer.memory))
    )
    heads = graph.op("Squeeze", softmax_attention(graph, layer, queries, memory), [0])
    attentive = merge_heads(graph, layer, states, heads)
    return encoded._replace(summary=attentive) if layer.of_summary else encoded._replace(annotations=attentive)
