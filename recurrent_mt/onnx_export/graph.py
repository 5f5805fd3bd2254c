"""Builds an ONNX graph one operator at a time; linear layers, norms, and attention are made of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from ..layers.self_attention import SelfAttention
from ..layers.weights import LowRankMatrix

#: The version of ONNX's operators, and of its files: what onnxruntime 1.17 and newer read.
OPSET, FILE_VERSION = 18, 9

#: What an operator takes: the name of a value in the graph, or a constant.
Operand = str | Tensor | np.ndarray | Sequence[int] | int | float

_FORMATS = {"float": TensorProto.FLOAT, "int": TensorProto.INT64, "bool": TensorProto.BOOL}


class Graph:
    """A graph under construction.

    A value in the graph is known by its name, a ``str``. Numbers, arrays, and parameters become constants; a parameter
    that is used twice is stored once.

    Args:
        name: for whoever looks at the file.
        outer: the graph that this one is the body of a loop in: it may use all values of that graph.
    """

    def __init__(self, name: str, outer: Graph | None = None) -> None:
        self.name = name
        self._root: Graph = self if outer is None else outer._root
        self._nodes: list[onnx.NodeProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        # With each constant, what it was made of: while that is alive, no other tensor has its address.
        self._constants: dict[Any, tuple[onnx.TensorProto, Operand]] = {}
        self._names = 0

    def input(self, name: str, format: str, shape: Sequence[str | int | None]) -> str:
        """An input: its format is ``float``, ``int``, or ``bool``; sizes that vary have names."""
        self._inputs.append(helper.make_tensor_value_info(name, _FORMATS[format], shape))
        return name

    def output(self, value: str, name: str, shape: Sequence[str | int | None], format: str = "float") -> None:
        """Makes a value an output under a name."""
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, _FORMATS[format], shape))

    def op(self, operator: str, *operands: Operand | None, count: int = 1, **attributes: Any) -> Any:
        """Adds an operator.

        Args:
            operator: one of ONNX's, such as ``Gemm``.
            *operands: what it takes; None for what is left out.
            count: how many values it has.
            **attributes: the operator's own.

        Returns:
            The name of its value; a list of names if ``count`` is not 1.
        """
        inputs = ["" if operand is None else self._value(operand) for operand in operands]
        outputs = [self._new_name(operator.lower()) for _ in range(count)]
        name = outputs[0] if outputs else self._new_name(operator.lower())
        self._nodes.append(helper.make_node(operator, inputs, outputs, name=name, **attributes))
        return outputs[0] if count == 1 else outputs

    def loop(
        self,
        body: Callable[[Graph, Sequence[str]], tuple[str | None, Sequence[str]]],
        state: Sequence[str],
        *,
        times: str,
    ) -> list[str]:
        """Repeats a part of the graph.

        Args:
            body: adds one round to its graph, from the values before it; returns the values after it, and before them
                whether there is another round, a bool in the graph, or None: there is.
            state: the values before the first round, float, of any rank; they may change shape.
            times: the most rounds, a whole number in the graph.

        Returns:
            The values after the last round.
        """
        inner = Graph(self._new_name("body"), outer=self)
        inner._inputs = [
            helper.make_tensor_value_info(self._new_name("round"), TensorProto.INT64, []),
            helper.make_tensor_value_info(self._new_name("goes_on"), TensorProto.BOOL, []),
        ]
        before = [self._new_name("before") for _ in state]
        inner._inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in before]
        goes_on, after = body(inner, before)
        results = [inner.op("Identity", goes_on or inner._inputs[1].name), *(inner.op("Identity", x) for x in after)]
        inner._outputs = [helper.make_tensor_value_info(results[0], TensorProto.BOOL, [])]
        inner._outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results[1:]]
        found = self.op("Loop", times, np.array(True), *state, count=len(state), body=inner._build())
        return [found] if len(state) == 1 else found

    def scan(self, body: Callable[[Graph, str, str], tuple[str, str]], state: str, rows: str) -> str:
        """Goes through rows one by one, carrying a state along.

        Args:
            body: adds one round to its graph, from the state and the row; returns the next state and a result.
            state: before the first row, float.
            rows: (N, …), float.

        Returns:
            The results, one under the other.
        """
        inner = Graph(self._new_name("body"), outer=self)
        before, row = self._new_name("before"), self._new_name("row")
        inner._inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in (before, row)]
        results = [inner.op("Identity", value) for value in body(inner, before, row)]
        inner._outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results]
        _, found = self.op("Scan", state, rows, count=2, num_scan_inputs=1, body=inner._build())
        return found

    def model(self) -> onnx.ModelProto:
        model = helper.make_model(
            self._build(), opset_imports=[helper.make_opsetid("", OPSET)], ir_version=FILE_VERSION
        )
        onnx.checker.check_model(model)
        return model

    def _build(self) -> onnx.GraphProto:
        constants = [constant for constant, _ in self._constants.values()]
        return helper.make_graph(self._nodes, self.name, self._inputs, self._outputs, initializer=constants)

    def _new_name(self, kind: str) -> str:
        self._root._names += 1
        return f"{kind}_{self._root._names}"

    def _value(self, operand: Operand) -> str:
        if isinstance(operand, str):
            return operand
        if isinstance(operand, Tensor):
            key: Any = (operand.data_ptr(), tuple(operand.shape), operand.stride())
            array = operand.detach().float().cpu().numpy()
        else:
            array = np.asarray(operand)
            array = array.astype({"f": np.float32, "i": np.int64, "b": np.bool_}[array.dtype.kind])
            key = (array.dtype.str, array.shape, array.tobytes())
        constants = self._root._constants
        if key not in constants:
            constants[key] = numpy_helper.from_array(array.copy(), self._new_name("constant")), operand
        return constants[key][0].name


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
