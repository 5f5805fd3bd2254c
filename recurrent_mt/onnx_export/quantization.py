"""Weights of eight bits, by onnxruntime's dynamic quantizer."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ..silence import silence

#: What the quantizer is left: linear layers, which it turns into MatMul first.
OPERATORS = ["MatMul"]
#: The largest whole number that a weight becomes. Seven bits: with AVX2 alone, two products are added in 16 bits, which
#: eight overflow.
LARGEST = 64
#: A constant that embeddings share.
LAST_AXIS = "embedding_axis"
#: Those that the inputs of linear layers share; a row of zeros has the least scale.
ROW_CONSTANTS = {
    "row_axis": np.array([-1]),
    "row_least": np.array(1e-12, dtype=np.float32),
    "row_step": np.array(1 / 127, dtype=np.float32),
    "row_shift": np.array(128, dtype=np.float32),
    "row_middle": np.array(128, dtype=np.uint8),
}


def quantize(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the weights of its linear layers and embeddings in eight bits.

    A linear layer then rounds its input to eight bits as well, each row in its own range, and multiplies whole numbers:
    what becomes of a sentence does not depend on the others of its batch. A matrix that is an embedding and a layer's,
    too, is stored once. onnxruntime has no GRU of eight bits: that of an encoder keeps its numbers, in 16 bits.

    Raises:
        ModuleNotFoundError: if onnxruntime is not installed.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic  # only here: it is slow to load

    turned = turn_matrices(model.graph)
    attention = [node.name for node in model.graph.node if node.op_type == "MatMul"]
    # The quantizer logs advice for static quantization, and a line for each value without constants.
    with tempfile.TemporaryDirectory() as folder, silence(logging.WARNING):
        before, after = Path(folder, "before.onnx"), Path(folder, "after.onnx")
        onnx.save(model, str(before))
        quantize_dynamic(
            before,
            after,
            op_types_to_quantize=OPERATORS,
            reduce_range=True,
            nodes_to_exclude=attention,
            weight_type=QuantType.QInt8,
            per_channel=True,
        )
        quantized = onnx.load(str(after))
    round_rows(quantized.graph)
    quantize_embeddings(quantized.graph, turned)
    halve_recurrences(quantized.graph)
    onnx.checker.check_model(quantized)
    return quantized


def round_rows(graph: onnx.GraphProto) -> None:
    """Gives each row of what enters a linear layer a scale of its own, where the quantizer gives one to all of them.

    A row becomes whole numbers around 128, the largest of them 127 above or below. The product of these is multiplied
    by the scales of the columns first, and then by those of the rows: onnxruntime (1.31) makes one operator of the
    quantizer's order, whose result for a single row was a tenth off.
    """
    scales = {node.output[1] for node in graph.node if node.op_type == "DynamicQuantizeLinear"}
    products = {node.output[0]: node for node in graph.node if node.op_type == "Mul" and node.input[0] in scales}
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        if node.op_type == "DynamicQuantizeLinear":
            nodes += _round_each_row(node.input[0], *node.output)
        elif node.op_type == "Mul" and node.input[1] in products:
            rows, columns = products[node.input[1]].input
            scaled = f"{node.output[0]}_columns"
            nodes.append(helper.make_node("Mul", [node.input[0], columns], [scaled]))
            nodes.append(helper.make_node("Mul", [scaled, rows], list(node.output)))
        elif node.output[0] not in products:
            nodes.append(node)
    graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in ROW_CONSTANTS.items())
    _replace_nodes(graph, nodes)


def _round_each_row(numbers: str, whole: str, scale: str, middle: str) -> list[onnx.NodeProto]:
    """The nodes from the numbers that enter a layer to whole ones, the rows' scales, and what stands for zero."""
    sizes, largest, nonzero, divided, rounded, shifted = (f"{whole}_{number}" for number in range(6))
    return [
        helper.make_node("Abs", [numbers], [sizes]),
        helper.make_node("ReduceMax", [sizes, "row_axis"], [largest], keepdims=1),
        helper.make_node("Max", [largest, "row_least"], [nonzero]),
        helper.make_node("Mul", [nonzero, "row_step"], [scale]),
        helper.make_node("Div", [numbers, scale], [divided]),
        helper.make_node("Round", [divided], [rounded]),
        helper.make_node("Add", [rounded, "row_shift"], [shifted]),
        helper.make_node("Cast", [shifted], [whole], to=TensorProto.UINT8),
        helper.make_node("Identity", ["row_middle"], [middle]),
    ]


def quantize_embeddings(graph: onnx.GraphProto, turned: Mapping[str, str]) -> None:
    """Stores embeddings in eight bits, with a scale for each word.

    Where a linear layer has the same matrix, it reads it from there. onnxruntime turns it when it loads the model.

    Args:
        graph: whose linear layers are quantized.
        turned: embeddings' matrices to the names under which linear layers have them.
    """
    stored = {tensor.name: tensor for tensor in graph.initializer}
    nodes: list[onnx.NodeProto] = []
    done: set[str] = set()
    for node in graph.node:
        table = stored.get(node.input[0]) if node.op_type == "Gather" else None
        if table is None or table.data_type != TensorProto.FLOAT or len(table.dims) != 2:
            nodes.append(node)
            continue
        rows, scales = f"{table.name}_rows", f"{table.name}_scales"
        if table.name not in done:
            done.add(table.name)
            values = _store_rows(graph, table, rows, scales)
            if layer := turned.get(table.name):
                _replace(graph, f"{layer}_quantized", None)
                _replace(graph, f"{layer}_scale", values)
                nodes.insert(0, helper.make_node("Transpose", [rows], [f"{layer}_quantized"]))
        names = [f"{node.output[0]}_{part}" for part in ("rows", "numbers", "scales", "column")]
        nodes += [
            helper.make_node("Gather", [rows, node.input[1]], [names[0]]),
            helper.make_node("Cast", [names[0]], [names[1]], to=TensorProto.FLOAT),
            helper.make_node("Gather", [scales, node.input[1]], [names[2]]),
            helper.make_node("Unsqueeze", [names[2], LAST_AXIS], [names[3]]),
            helper.make_node("Mul", [names[1], names[3]], list(node.output)),
        ]
    if done:
        graph.initializer.append(numpy_helper.from_array(np.array([-1]), LAST_AXIS))
    _replace_nodes(graph, nodes)


def _store_rows(graph: onnx.GraphProto, table: onnx.TensorProto, rows: str, scales: str) -> np.ndarray:
    """Replaces a matrix by whole numbers and the scales of its rows, which it returns."""
    values = numpy_helper.to_array(table)
    found = np.abs(values).max(axis=1) / LARGEST
    found[found == 0] = 1  # a row of zeros, such as that of padding
    graph.initializer.remove(table)
    whole = np.rint(values / found[:, None]).astype(np.int8)
    graph.initializer.extend([numpy_helper.from_array(whole, rows), numpy_helper.from_array(found, scales)])
    return found


def halve_recurrences(graph: onnx.GraphProto) -> None:
    """Stores the weights of GRU operators in 16 bits; onnxruntime widens them when it loads the model."""
    stored = {tensor.name: tensor for tensor in graph.initializer}
    casts = []
    for node in graph.node:
        for name in node.input[1:3] if node.op_type == "GRU" else []:
            half = numpy_helper.from_array(numpy_helper.to_array(stored[name]).astype(np.float16), f"{name}_half")
            _replace(graph, name, None)
            graph.initializer.append(half)
            casts.append(helper.make_node("Cast", [half.name], [name], to=TensorProto.FLOAT))
    _replace_nodes(graph, [*casts, *graph.node])


def _replace(graph: onnx.GraphProto, name: str, values: np.ndarray | None) -> None:
    """Gives a constant other values, or takes it out of the graph for None."""
    (old,) = (tensor for tensor in graph.initializer if tensor.name == name)
    graph.initializer.remove(old)
    if values is not None:
        graph.initializer.append(numpy_helper.from_array(values, name))


def _replace_nodes(graph: onnx.GraphProto, nodes: Sequence[onnx.NodeProto]) -> None:
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(kept)


def turn_matrices(graph: onnx.GraphProto) -> dict[str, str]:
    """Stores the matrices of linear layers, also of those in loops, the way that MatMul reads them.

    The quantizer would turn a matrix once for each layer that has it.

    Returns:
        the new names of those that something else reads, too, such as an embedding.
    """
    shared = {}
    nodes = list(_all_nodes(graph))
    read_otherwise = {name for node in nodes if node.op_type != "Gemm" for name in node.input}
    for stored in list(graph.initializer):
        layers = [node for node in nodes if node.op_type == "Gemm" and node.input[1] == stored.name]
        if not layers:
            continue
        turned = numpy_helper.from_array(numpy_helper.to_array(stored).T, f"{stored.name}_turned")
        graph.initializer.append(turned)
        if stored.name in read_otherwise:
            shared[stored.name] = turned.name
        else:
            graph.initializer.remove(stored)
        for layer in layers:
            layer.input[1] = turned.name
            del layer.attribute[:]  # transB, the only one
    return shared


def _all_nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _all_nodes(attribute.g)
