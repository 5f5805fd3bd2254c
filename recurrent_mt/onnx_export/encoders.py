"""The encoders as operators of a graph, over the words of one sentence: no padding and no masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

from torch import nn

from ..layers.dilated_grconv import DilatedGRConvEncoder
from ..layers.grconv import GRConvEncoder
from ..layers.grnn import GRNNEncoder
from ..layers.gru import GRU, GRUEncoder
from ..layers.self_attention import EncoderSelfAttention
from ..layers.separable_convolution import SeparableConvolutionEncoder
from ..layers.unet import UNetEncoder
from ..layers.vnet import VNetEncoder
from .convolutions import encode_with_separable_convolutions, encode_with_unet, encode_with_vnet
from .graph import Graph
from .operations import apply_linear, apply_norm, merge_heads, softmax_attention
from .recurrence import gru_over_sentence, layer_output
from .trees import encode_with_dilated_grconv, encode_with_grconv, encode_with_grnn


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
            layer_output(
                graph,
                direction.output,
                gru_over_sentence(graph, direction, rows, backward=backward),
                rows,
            )
            for direction, backward in zip(cast("list[GRU]", directions), (False, True))
        ]
        rows = outputs[0] if len(outputs) == 1 else graph.op("Concat", *outputs, axis=1)
    # The last word's state forward, and the first word's backward.
    ends = [graph.op("Gather", output, [place], axis=0) for output, place in zip(outputs, (-1, 0))]
    chosen = {"both": ends, "forward": ends[:1], "backward": ends[1:]}[layer.summary]
    return rows, graph.op("Concat", *chosen, axis=1)


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
    """Exports :class:`recurrent_mt.layers.self_attention.EncoderSelfAttention`."""
    states = encoded.summary if layer.of_summary else encoded.annotations
    queries, memory = (
        graph.op("Unsqueeze", apply_linear(graph, rows, part), [0])
        for rows, part in ((states, layer.query), (encoded.annotations, layer.memory))
    )
    heads = graph.op("Squeeze", softmax_attention(graph, layer, queries, memory), [0])
    attentive = merge_heads(graph, layer, states, heads)
    return encoded._replace(summary=attentive) if layer.of_summary else encoded._replace(annotations=attentive)
