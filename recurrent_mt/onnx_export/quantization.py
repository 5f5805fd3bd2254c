"""Weights of eight bits, by onnxruntime's dynamic quantizer."""

from __future__ import annotations

import logging
import tempfile
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

    # It advises to prepare the model for static quantization, which this is not.
    logging.getLogger("root").addFilter(lambda record: "pre-processing" not in record.getMessage())
    attention = [node.name for node in model.graph.node if node.op_type == "MatMul"]
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "before.onnx"), Path(folder, "after.onnx")
        onnx.save(model, str(before))
        quantize_dynamic(
            before,
            after,
            op_types_to_quantize=OPERATORS,
            nodes_to_exclude=attention,
            weight_type=QuantType.QInt8,
            per_channel=True,
        )
        return onnx.load(str(after))
