"""Weights of eight bits, by onnxruntime's dynamic quantizer."""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

import onnx

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

    separate_embeddings(model.graph)
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


def separate_embeddings(graph: onnx.GraphProto) -> None:
    """Gives linear layers a copy of a matrix that embeddings are read from: the quantizer would turn it for both."""
    embeddings = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    for stored in list(graph.initializer):
        layers = [node for node in graph.node if node.op_type == "Gemm" and node.input[1] == stored.name]
        if layers and stored.name in embeddings:
            own = graph.initializer.add()
            own.CopyFrom(stored)
            own.name = f"{stored.name}_of_layer"
            for layer in layers:
                layer.input[1] = own.name


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drops what the quantizer logs: advice for static quantization, and a line for each value without constants."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
