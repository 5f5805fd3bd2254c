"""Builds an ONNX graph one operator at a time; linear layers, norms, and GRU layers are made of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn
from torch.nn import functional as F

from ..layers.gru import GRU, LayerOutput
from ..layers.min_gru import MinGRU
from ..layers.weights import LowRankMatrix, whole_matrix

#: The version of ONNX's operators, and of its files: what onnxruntime 1.17 and newer read.
OPSET, FILE_VERSION = 18, 9

#: What an operator takes: the name of a value in the graph, or a constant.
Operand = str | Tensor | np.ndarray | Sequence[int] | int | float

_FORMATS = {
    "float": TensorProto.FLOAT,
    "int": TensorProto.INT64,
    "int8": TensorProto.INT8,
    "bool": TensorProto.BOOL,
}


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
        """An input: its format is ``float``, ``int``, ``int8``, or ``bool``; sizes that vary have names."""
        self._inputs.append(helper.make_tensor_value_info(name, _FORMATS[format], shape))
        return name

    def output(self, value: str, name: str, format: str, shape: Sequence[str | int | None]) -> None:
        """Makes a value an output under a name; formats and sizes as of :meth:`input`."""
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
        self._nodes.append(helper.make_node(operator, inputs, outputs, name=outputs[0], **attributes))
        return outputs[0] if count == 1 else outputs

    def multiply(self, rows: str, weight: Tensor, bias: Tensor | None = None) -> str:
        """The products (N, M) of a weight (M, K) with rows (N, K), plus the bias (M,) if there is one."""
        return self.op("Gemm", rows, weight, *([] if bias is None else [bias]), transB=1)

    #: The format of the weight in what is selected.
    selected_format = "float"

    def select(self, weight: Tensor, numbers: str) -> dict[str, str]:
        """The rows of a weight (M, K) that have these numbers (M',), as :meth:`multiply_selected` takes them."""
        return {"weight": self.op("Transpose", self.op("Gather", weight, numbers))}

    def multiply_selected(self, rows: str, choose: Callable[[str], str]) -> str:
        """The products (B, k, W) of rows (B, k, K) with those of the selected that ``choose`` takes of (B, k, M')."""
        return choose(self.op("MatMul", rows, self.selected_weight()))

    def selected_weight(self) -> str:
        """The input (K, M') that has the selected rows of a weight."""
        return self.input("output_weight", self.selected_format, [None, "V"])

    def look_up(self, table: Tensor, words: str) -> str:
        """The rows of a table that words have."""
        return self.op("Gather", table, words, axis=0)

    def recurrent(self, weight: Tensor) -> Operand:
        """A weight of ONNX's GRU."""
        return weight

    def loop(
        self, body: Callable[[Graph, Sequence[str]], Sequence[str]], state: Sequence[str], *, times: str
    ) -> list[str]:
        """Repeats a part of the graph.

        Args:
            body: adds one round to its graph, from the values before it; returns the values after it.
            state: the values before the first round, float, of any rank; they may change shape.
            times: how many rounds, a whole number in the graph.

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
        after = [inner._inputs[1].name, *body(inner, before)]
        results = [inner.op("Identity", value) for value in after]
        inner._outputs = [helper.make_tensor_value_info(results[0], TensorProto.BOOL, [])]
        inner._outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in results[1:]]
        found = self.op("Loop", times, np.array(True), *state, count=len(state), body=inner._build())
        return [found] if len(state) == 1 else found

    def scan(self, body: Callable[..., str], state: str, sequences: Sequence[str], *, backward: bool) -> str:
        """Goes along sequences.

        Args:
            body: adds a step to its graph: from the graph, the state before, and a row of each sequence, to the state
                after.
            state: before the first step, (B, H).
            sequences: each (S, B, H).
            backward: whether the last row comes first.

        Returns:
            (S, B, H) the states, each in the place of the rows that it comes from.
        """
        inner = Graph(self._new_name("body"), outer=self)
        names = [self._new_name("before"), *(self._new_name("row") for _ in sequences)]
        after = body(inner, *names)
        results = [inner.op("Identity", after) for _ in range(2)]
        inner._inputs, inner._outputs = (
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, None]) for name in some]
            for some in (names, results)
        )
        directions = {
            f"scan_{side}_directions": [int(backward)] * n for side, n in (("input", len(sequences)), ("output", 1))
        }
        built = inner._build()
        _, states = self.op(
            "Scan", state, *sequences, count=2, body=built, num_scan_inputs=len(sequences), **directions
        )
        return states

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
            if not isinstance(operand, np.ndarray):
                array = array.astype({"f": np.float32, "i": np.int64}[array.dtype.kind])
            key = (array.dtype.str, array.shape, array.tobytes())
        constants = self._root._constants
        if key not in constants:
            constants[key] = numpy_helper.from_array(array.copy(), self._new_name("constant")), operand
        return constants[key][0].name


#: A weight (M, K), and the bias (M,), if it has one.
LinearLayer = tuple[Tensor | LowRankMatrix, Tensor | None]


def linear(graph: Graph, rows: str, weight: Tensor | LowRankMatrix, bias: Tensor | None = None) -> str:
    """The products (N, M) of a weight (M, K) with rows (N, K), plus the bias (M,) if there is one."""
    if isinstance(weight, LowRankMatrix):
        rows, weight = graph.multiply(rows, weight.right), weight.left
    return graph.multiply(rows, weight, bias)


def linears(graph: Graph, rows: str, *layers: LinearLayer) -> list[str]:
    """The products of the same rows (N, K) with several layers, which are faster as one, if none is of low rank."""
    weights = [weight for weight, _ in layers if isinstance(weight, Tensor)]
    if len(layers) == 1 or len(weights) < len(layers):
        return [linear(graph, rows, *layer) for layer in layers]
    biases = [weight.new_zeros(len(weight)) if bias is None else bias for weight, (_, bias) in zip(weights, layers)]
    products = graph.multiply(rows, torch.cat(weights), torch.cat(biases))
    return graph.op("Split", products, [*map(len, weights)], axis=1, count=len(layers))


def apply_linear(graph: Graph, rows: str, layer: nn.Linear) -> str:
    """A linear layer over rows (N, K)."""
    return linear(graph, rows, layer.weight, layer.bias)


def apply_norm(graph: Graph, values: str, norm: nn.LayerNorm) -> str:
    """A layer norm over the last dimension."""
    return graph.op("LayerNormalization", values, norm.weight, norm.bias, axis=-1, epsilon=norm.eps)


def columns(graph: Graph, values: str, start: int, end: int) -> str:
    """Selects a part of the last dimension."""
    return graph.op("Slice", values, [start], [end], [-1])


def input_layer(layer: GRU | MinGRU) -> LinearLayer:
    """Of :meth:`recurrent_mt.layers.gru.GRU.project`, or of a minimal GRU's."""
    return layer.input_weight, layer.bias if isinstance(layer, MinGRU) else layer.biases()


def project_inputs(graph: Graph, layer: GRU | MinGRU, rows: str) -> str:
    """What enters a layer, (N, E) → (N, 3H), or (N, 2H) of a minimal one."""
    return linear(graph, rows, *input_layer(layer))


def min_gru_step(graph: Graph, inputs: str, previous: str, size: int) -> str:
    """The states (N, H) after a step of a minimal GRU: :func:`recurrent_mt.kernels.min_gru.min_gru`."""
    update, candidate = (columns(graph, inputs, start, start + size) for start in (0, size))
    change = graph.op("Sub", candidate, previous)
    return graph.op("Add", previous, graph.op("Mul", graph.op("Sigmoid", update), change))


def gru_step(graph: Graph, layer: GRU, inputs: str, state: str) -> str:
    """The next states (N, H), from the input products (N, 3H) and the last states (N, H).

    Exports :meth:`recurrent_mt.layers.gru_cell.PreparedCell.advance`.
    """
    size = layer.hidden_size

    def add_product(rows: str, weight: nn.Parameter | LowRankMatrix, start: int, stop: int) -> str:
        return graph.op("Add", columns(graph, inputs, start, stop), linear(graph, rows, weight))

    gates = graph.op("Sigmoid", add_product(state, layer.gate_weight, 0, 2 * size))
    reset, update = (columns(graph, gates, start, start + size) for start in (0, size))
    reset_state = graph.op("Mul", reset, state)
    candidate = graph.op("Tanh", add_product(reset_state, layer.candidate_weight, 2 * size, 3 * size))
    # z h + (1 − z) h̃ = h̃ + z (h − h̃)
    return graph.op("Add", candidate, graph.op("Mul", update, graph.op("Sub", state, candidate)))


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


class Words(NamedTuple):
    """The words that an encoder reads: of B sentences, the first words of all come before the second words.

    Attributes:
        rows: (S B, E) embedded; what is beyond the end of a sentence may be anything.
        lengths: (B,) the sentences' lengths.
        sentences: (1,) B.
    """

    rows: str
    lengths: str
    sentences: str


def by_position(graph: Graph, rows: str, words: Words, width: int) -> str:
    """Rows (S B, width) as (S, B, width)."""
    return graph.op("Reshape", rows, graph.op("Concat", [-1], words.sentences, [width], axis=0))


def gru_over_sentences(graph: Graph, layer: GRU, rows: str, words: Words, *, backward: bool) -> str:
    """The states (S B, H) over the inputs (S B, E) of sentences, from zeros on, in the words' order."""
    size = layer.hidden_size

    def reorder(weight: Tensor) -> Tensor:
        """ONNX has [update, reset, candidate] where we have [reset, update, candidate]."""
        reset, update, candidate = weight.detach().split(size)
        return torch.cat([update, reset, candidate])[None]

    recurrent = torch.cat([whole_matrix(layer.gate_weight), whole_matrix(layer.candidate_weight)])
    entering = whole_matrix(layer.input_weight)
    states, _ = graph.op(
        "GRU",
        by_position(graph, rows, words, entering.size(1)),
        graph.recurrent(reorder(entering)),
        graph.recurrent(reorder(recurrent)),
        F.pad(reorder(layer.biases().detach()), (0, 3 * size)),
        graph.op("Cast", words.lengths, to=TensorProto.INT32),
        count=2,
        hidden_size=size,
        # The reset gate acts before the recurrent product, as in the papers.
        linear_before_reset=0,
        direction="reverse" if backward else "forward",
    )
    return graph.op("Reshape", states, [-1, size])


def min_gru_over_sentences(graph: Graph, layer: MinGRU, rows: str, words: Words, *, backward: bool) -> str:
    """The same of a minimal GRU: gates that stay shut beyond a sentence's end keep the state as it is."""
    size, inputs = layer.hidden_size, project_inputs(graph, layer, rows)
    positions = graph.op("Unsqueeze", graph.op("Range", 0, graph.op("ReduceMax", words.lengths, keepdims=0), 1), [1])
    present = graph.op("Cast", graph.op("Less", positions, words.lengths), to=TensorProto.FLOAT)
    present = graph.op("Reshape", present, [-1, 1])
    if layer.shift is not None:
        earlier = one_position_before(graph, graph.op("Mul", inputs, present), words, 2 * size, backward=backward)
        inputs = graph.op("Add", inputs, graph.op("Mul", earlier, layer.shift))
    update = graph.op("Mul", graph.op("Sigmoid", columns(graph, inputs, 0, size)), present)
    added = graph.op("Mul", update, columns(graph, inputs, size, 2 * size))
    kept = graph.op("Sub", 1.0, update)
    start = graph.op("Expand", 0.0, graph.op("Concat", words.sentences, [size], axis=0))

    def step(inner: Graph, before: str, kept: str, added: str) -> str:
        return inner.op("Add", inner.op("Mul", kept, before), added)

    sequences = [by_position(graph, values, words, size) for values in (kept, added)]
    return graph.op("Reshape", graph.scan(step, start, sequences, backward=backward), [-1, size])


def one_position_before(graph: Graph, rows: str, words: Words, width: int, *, backward: bool) -> str:
    """For each of the rows (S B, width) the one a position before, or after if backward; zeros where there is none."""
    none = graph.op("Expand", 0.0, graph.op("Concat", words.sentences, [width], axis=0))
    if backward:
        return graph.op("Concat", graph.op("Slice", rows, words.sentences, [2**62], [0]), none, axis=0)
    return graph.op("Concat", none, graph.op("Slice", rows, [0], graph.op("Neg", words.sentences), [0]), axis=0)
