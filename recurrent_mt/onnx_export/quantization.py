"""Weights of eight bits, by onnxruntime's dynamic quantizer."""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

import onnx
from onnx import numpy_helper

#: What is quantized: linear layers, which the quantizer turns into MatMul first, and embeddings. onnxruntime has no GRU
#: of eight bits: that of an encoder keeps its numbers.
OPERATORS = ["MatMul", "Gather"]


def quantize(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the weights of its linear layers and embeddings in eight bits.

    A linear layer then rounds its input to eight bits as well, in a range found anew for each call, and multiplies
    whole numbers.

    Raises:
        ModuleNotFoundError: if onnxruntime is not installed.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic  # only here: it is slow to load

    turn_matrices(model.graph)
    attention = [node.name for node in model.graph.node if node.op_type == "MatMul"]
    with tempfile.TemporaryDirectory() as folder, _silence():
        before, after = Path(folder, "before.onnx"), Path(folder, "after.onnx")
        onnx.save(model, str(before))
        quantize_dynamic(
            before,
            after,
            op_types_to_quantize=OPERATORS,
            reduce_range=True,  # seven bits: with AVX2 alone, two products are added in 16 bits, which eight overflow
            nodes_to_exclude=attention,
            weight_type=QuantType.QInt8,
            per_channel=True,
        )
        return onnx.load(str(after))


def turn_matrices(graph: onnx.GraphProto) -> None:
    """Stores the matrices of linear layers, also of those in loops, the way that MatMul reads them.

    The quantizer would turn a matrix once for each layer that has it, and for embeddings that are read from it as well.
    """
    nodes = list(_all_nodes(graph))
    read_otherwise = {name for node in nodes if node.op_type != "Gemm" for name in node.input}
    for stored in list(graph.initializer):
        layers = [node for node in nodes if node.op_type == "Gemm" and node.input[1] == stored.name]
        if not layers:
            continue
        turned = numpy_helper.from_array(numpy_helper.to_array(stored).T, f"{stored.name}_turned")
        graph.initializer.append(turned)
        if stored.name not in read_otherwise:
            graph.initializer.remove(stored)
        for layer in layers:
            layer.input[1] = turned.name
            del layer.attribute[:]  # transB, the only one


def _all_nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _all_nodes(attribute.g)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drops what the quantizer logs: advice for static quantization, and a line for each value without constants."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
