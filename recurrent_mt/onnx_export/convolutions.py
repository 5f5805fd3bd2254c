"""The convolutional encoders as operators of a graph. A grid is (1, C, L), as convolutions want it."""

from __future__ import annotations

from typing import Any

from torch import nn

from ..layers.convolution import ChannelNorm, Convolution
from ..layers.hourglass import HourglassEncoder
from ..layers.separable_convolution import SeparableConvolution, SeparableConvolutionEncoder, sinusoids
from ..layers.unet import AttentionGate, ConvolutionPair, UNetEncoder
from ..layers.vnet import ResidualStage, VNetEncoder
from .graph import Graph
from .operations import apply_linear, apply_norm


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
    """Exports :class:`recurrent_mt.layers.convolution.Convolution`."""
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
        count = graph.op("Slice", graph.op("Shape", rows), [0], [1])
        rows = graph.op("Add", rows, graph.op("Slice", places, [0], count, [0]))
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
    """Exports :class:`recurrent_mt.layers.unet.UNetEncoder`."""

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
    """Exports :class:`recurrent_mt.layers.unet.AttentionGate`."""
    length = graph.op("Squeeze", length_of(graph, skip), [0])
    halves = graph.op("Div", graph.op("Range", 0, length, 1), 2)
    gating = graph.op("Gather", convolve(graph, below, layer.gating), halves, axis=2)
    inner = graph.op("Relu", graph.op("Add", convolve(graph, skip, layer.skip), gating))
    return graph.op("Mul", skip, graph.op("Sigmoid", convolve(graph, inner, layer.score)))


def encode_with_vnet(graph: Graph, layer: VNetEncoder, embedded: str) -> tuple[str, str]:
    """Exports :class:`recurrent_mt.layers.vnet.VNetEncoder`."""

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
