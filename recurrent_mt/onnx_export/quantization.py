"""Weights of eight bits."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto
from torch import Tensor

from .graph import Graph

#: The largest whole number that a weight becomes. Seven bits: with AVX2 alone, two products are added in 16 bits, which
#: eight overflow.
LARGEST = 64
#: The largest of a row that enters a layer, which becomes numbers from 1 to 255 around what stands for zero.
LARGEST_INPUT, ZERO = 127, 128
#: The scale of a row of zeros is not zero.
LEAST = 1e-12


class EightBitGraph(Graph):
    """A graph whose linear layers and embeddings have their weights in eight bits.

    A linear layer rounds its input to eight bits as well, each row in its own range, and multiplies whole numbers: what
    becomes of a sentence does not depend on the others of its batch. A matrix that is an embedding and a layer's, too,
    is stored once. onnxruntime has no GRU of eight bits: that of an encoder keeps its numbers, in 16 bits. What is in
    the body of a loop stays as it is.
    """

    def multiply(self, rows: str, weight: Tensor, bias: Tensor | None = None) -> str:
        """As of :class:`Graph`.

        The product is multiplied by the scales of the columns first, and then by those of the rows: of the other order,
        onnxruntime (1.31) makes one operator, whose result for a single row was a tenth off.
        """
        numbers, scales = round_rows(weight)
        largest = self.op("Max", self.op("ReduceMax", self.op("Abs", rows), [-1], keepdims=1), LEAST)
        scale = self.op("Mul", largest, 1 / LARGEST_INPUT)
        rounded = self.op("Add", self.op("Round", self.op("Div", rows, scale)), float(ZERO))
        whole = self.op("Cast", rounded, to=TensorProto.UINT8)
        # onnxruntime turns the matrix when it loads the model.
        turned = self.op("Transpose", numbers)
        product = self.op("MatMulInteger", whole, turned, np.array(ZERO, dtype=np.uint8))
        product = self.op("Mul", self.op("Cast", product, to=TensorProto.FLOAT), scales)
        product = self.op("Mul", product, scale)
        return product if bias is None else self.op("Add", product, bias)

    def look_up(self, table: Tensor, words: str) -> str:
        numbers, scales = round_rows(table)
        rows = self.op("Cast", self.op("Gather", numbers, words), to=TensorProto.FLOAT)
        return self.op("Mul", rows, self.op("Unsqueeze", self.op("Gather", scales, words), [-1]))

    def recurrent(self, weight: Tensor) -> str:
        """In 16 bits; onnxruntime widens them when it loads the model."""
        return self.op("Cast", weight.half().numpy(), to=TensorProto.FLOAT)


def round_rows(weight: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """A matrix as whole numbers, and the scales of its rows."""
    values = weight.detach().float().cpu().numpy()
    scales = np.abs(values).max(axis=1) / LARGEST
    scales[scales == 0] = 1  # a row of zeros, such as that of padding
    return np.rint(values / scales[:, None]).astype(np.int8), scales
