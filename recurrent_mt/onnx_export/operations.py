"""Linear layers, norms, and attention as operators of a graph."""

from __future__ import annotations

from torch import Tensor, nn

from ..layers.low_rank import LowRankMatrix
from ..layers.self_attention import SelfAttention
from .graph import Graph


def linear(graph: Graph, rows: str, weight: Tensor | LowRankMatrix, bias: Tensor | None = None) -> str:
    """The products (N, M) of a weight (M, K) with rows (N, K), plus the bias (M,) if there is one."""
    if isinstance(weight, LowRankMatrix):
        rows, weight = graph.op("Gemm", rows, weight.right, transB=1), weight.left
    return graph.op("Gemm", rows, weight, *([] if bias is None else [bias]), transB=1)


def apply_linear(graph: Graph, rows: str, layer: nn.Linear) -> str:
    """A linear layer over rows (N, K)."""
    return linear(graph, rows, layer.weight, layer.bias)


def apply_norm(graph: Graph, values: str, norm: nn.Module) -> str:
    """A layer norm over the last dimension; no norm at all leaves the values as they are."""
    if not isinstance(norm, nn.LayerNorm):
        return values
    return graph.op("LayerNormalization", values, norm.weight, norm.bias, axis=-1, epsilon=norm.eps)


def columns(graph: Graph, values: str, start: int, end: int) -> str:
    """Selects a part of the last dimension."""
    return graph.op("Slice", values, [start], [end], [-1])


def softmax_attention(graph: Graph, layer: SelfAttention, queries: str, memory: str) -> str:
    """The heads, side by side: (B, T, H), for queries (B, T, H) and memory (B, M, 2H), all of which is visible.

    See :meth:`recurrent_mt.layers.self_attention.SelfAttention.attend`.
    """
    size = layer.query.in_features
    head = size // layer.num_heads

    def split(values: str) -> str:
        return graph.op("Transpose", graph.op("Reshape", values, [0, 0, layer.num_heads, head]), perm=[0, 2, 1, 3])

    keys, values = (split(columns(graph, memory, start, start + size)) for start in (0, size))
    scores = graph.op("MatMul", split(queries), graph.op("Transpose", keys, perm=[0, 1, 3, 2]))
    weights = graph.op("Softmax", graph.op("Mul", scores, float(head) ** -0.5), axis=-1)
    heads = graph.op("Transpose", graph.op("MatMul", weights, values), perm=[0, 2, 1, 3])
    return graph.op("Reshape", heads, [0, 0, size])


def merge_heads(graph: Graph, layer: SelfAttention, states: str, heads: str) -> str:
    """The layer's result (N, H) for states and heads (N, H)."""
    return apply_norm(graph, graph.op("Add", states, apply_linear(graph, heads, layer.output)), layer.norm)
