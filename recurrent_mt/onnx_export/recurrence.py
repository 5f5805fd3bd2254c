"""The GRU layers as operators of a graph: one step, and a whole sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..layers.gru import GRU, LayerOutput
from ..layers.gru_cell import GRUCell
from ..layers.weights import LowRankMatrix
from .graph import Graph, apply_norm, columns, linear


def project_inputs(graph: Graph, layer: GRU, rows: str) -> str:
    """Exports :meth:`recurrent_mt.layers.gru.GRU.project`: (N, E) → (N, 3H)."""
    return linear(graph, rows, layer.input_weight, layer.biases())


def gru_step(graph: Graph, layer: GRU, inputs: str, previous: str) -> str:
    """The states (N, H) after all cells of a step, from the input products (N, 3H) and what enters (N, H)."""
    if layer.input_norm is not None:
        size, norm = layer.hidden_size, layer.input_norm
        gates, candidate = (columns(graph, inputs, *ends) for ends in ((0, 2 * size), (2 * size, 3 * size)))
        normalized = apply_norm(graph, gates, norm.gates), apply_norm(graph, candidate, norm.candidate)
        inputs = graph.op("Concat", *normalized, axis=1)
    state = _advance(graph, layer, inputs, previous)
    for cell in cast("Iterable[GRUCell]", layer.transition):
        state = _advance(graph, cell, None, state)
    return state


def _advance(graph: Graph, cell: GRUCell, inputs: str | None, state: str) -> str:
    """Exports :meth:`recurrent_mt.layers.gru_cell.PreparedCell.advance`."""
    size = cell.hidden_size

    def add_product(rows: str, weight: nn.Parameter | LowRankMatrix, start: int, stop: int) -> str:
        product = linear(graph, rows, weight, cell.biases()[start:stop] if inputs is None else None)
        if cell.state_norm is not None:
            product = apply_norm(graph, product, cell.state_norm.candidate if start else cell.state_norm.gates)
        return product if inputs is None else graph.op("Add", columns(graph, inputs, start, stop), product)

    gates = graph.op("Sigmoid", add_product(state, cell.gate_weight, 0, 2 * size))
    reset, update = (columns(graph, gates, start, start + size) for start in (0, size))
    reset_state = graph.op("Mul", reset, state)
    candidate = graph.op("Tanh", add_product(reset_state, cell.candidate_weight, 2 * size, 3 * size))
    # z h + (1 − z) h̃ = h̃ + z (h − h̃)
    return graph.op("Add", candidate, graph.op("Mul", update, graph.op("Sub", state, candidate)))


def mix_in_time(graph: Graph, layer: GRU, last: str, earliest: str) -> str:
    """What enters a step of a layer with a skip in time: g ⊙ h_{t−1} + (1 − g) ⊙ h_{t−K}."""
    assert layer.time_skip is not None
    gate = layer.time_skip.gate().detach()
    return graph.op("Add", graph.op("Mul", last, gate), graph.op("Mul", earliest, (1 - gate).clone()))


def layer_output(graph: Graph, output: LayerOutput, states: str, inputs: str, alive: str | None = None) -> str:
    """Exports :class:`recurrent_mt.layers.gru.LayerOutput`.

    Args:
        graph: under construction.
        output: the layer's.
        states: (N, H).
        inputs: (N, E).
        alive: (N, 1) 0 where there is no input yet, otherwise 1; None: there is one everywhere.
    """
    if output.skip is not None:
        projection = output.skip.projection
        added = inputs if projection is None else linear(graph, inputs, projection.weight)
        states = graph.op("Add", states, added if alive is None else graph.op("Mul", added, alive))
    return states if output.norm is None else apply_norm(graph, states, output.norm)


def gru_over_sentence(graph: Graph, layer: GRU, rows: str, *, backward: bool) -> str:
    """The states (S, H) over the words (S, E) of one sentence, from zeros on, in the words' order."""
    if layer.time_skip is not None or not layer.variant.in_kernels:
        return _gru_by_steps(graph, layer, rows, backward=backward)
    size = layer.hidden_size

    def reorder(weight: Tensor) -> Tensor:
        """ONNX has [update, reset, candidate] where we have [reset, update, candidate]."""
        reset, update, candidate = weight.detach().split(size)
        return torch.cat([update, reset, candidate])[None]

    recurrent = torch.cat([_whole(layer.gate_weight), _whole(layer.candidate_weight)])
    bias = layer.biases().detach()
    states, _ = graph.op(
        "GRU",
        graph.op("Unsqueeze", rows, [1]),
        reorder(_whole(layer.input_weight)),
        reorder(recurrent),
        F.pad(reorder(bias), (0, 3 * size)),
        count=2,
        hidden_size=size,
        # The reset gate acts before the recurrent product, as in the papers.
        linear_before_reset=0,
        direction="reverse" if backward else "forward",
    )
    return graph.op("Squeeze", states, [1, 2])


def _whole(weight: Tensor | LowRankMatrix) -> Tensor:
    return (weight.left @ weight.right).detach() if isinstance(weight, LowRankMatrix) else weight.detach()


def _gru_by_steps(graph: Graph, layer: GRU, rows: str, *, backward: bool) -> str:
    size, span = layer.hidden_size, 1 if layer.time_skip is None else layer.time_skip.span

    def step(inner: Graph, history: str, inputs: str) -> tuple[str, str]:
        previous = history
        if span > 1:
            earliest, last = (inner.op("Slice", history, [start], [start + 1], [0]) for start in (0, span - 1))
            previous = mix_in_time(inner, layer, last, earliest)
        state = gru_step(inner, layer, inner.op("Unsqueeze", inputs, [0]), previous)
        following = state
        if span > 1:
            following = inner.op("Concat", inner.op("Slice", history, [1], [span], [0]), state, axis=0)
        return following, inner.op("Squeeze", state, [0])

    def in_order(values: str) -> str:
        return graph.op("Slice", values, [-1], [-(2**62)], [0], [-1]) if backward else values

    inputs = in_order(project_inputs(graph, layer, rows))
    return in_order(graph.scan(step, graph.op("Identity", torch.zeros(span, size)), inputs))
