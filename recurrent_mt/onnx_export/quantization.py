"""Weights of eight bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto
from torch import Tensor

from .graph import Graph, Operand

#: The largest whole number that a weight becomes. Seven bits: with AVX2 alone, two products are added in 16 bits, which
#: eight overflow.
LARGEST = 64
#: The largest of a row that enters a layer, which becomes numbers from 1 to 255 around what stands for zero.
LARGEST_INPUT, ZERO = 127, 128
ZERO_POINT = np.array(ZERO, dtype=np.uint8)
#: The scale of a row of zeros is not zero.
LEAST = 1e-12


class EightBitGraph(Graph):
    """A graph whose linear layers and embeddings have their weights in eight bits.

    A linear layer rounds its input to eight bits as well, each row in its own range, and multiplies whole numbers: what
    becomes of a sentence does not depend on the others of its batch. A matrix that is an embedding and a layer's, too,
    is stored once. onnxruntime has no GRU of eight bits: that of an encoder multiplies its rounded weights by inputs
    and states as they are. What is in the body of a loop stays as it is.
    """

    def __init__(self, name: str, outer: Graph | None = None) -> None:
        super().__init__(name, outer)
        self._rounded: dict[str, tuple[str, str]] = {}  # rows that are whole numbers times scales already

    def multiply(self, rows: str, weight: Tensor, bias: Tensor | None = None) -> str:
        numbers, scales = round_rows(weight)
        whole, scale = self._round(rows)
        # onnxruntime turns the matrix when it loads the model.
        product = self.op("MatMulInteger", whole, self.op("Transpose", numbers), ZERO_POINT)
        product = self._scale(product, scales, scale)
        return product if bias is None else self.op("Add", product, bias)

    selected_format = "int8"

    def select(self, weight: Tensor, numbers: str) -> dict[str, str]:
        rounded, scales = round_rows(weight)
        turned = self.op("Transpose", self.op("Gather", rounded, numbers))
        return {"weight": turned, "scales": self.op("Gather", scales, numbers)}

    def multiply_selected(self, rows: str, choose: Callable[[str], str]) -> str:
        whole, scale = self._round(rows)
        product = self.op("MatMulInteger", whole, self.selected_weight(), ZERO_POINT)
        return self._scale(choose(product), self.input("output_scales", "float", ["B", 1, "W"]), scale)

    def _round(self, rows: str) -> tuple[str, str]:
        """Rows (…, K) as whole numbers around :data:`ZERO`, and their scales (…, 1)."""
        if rows in self._rounded:
            return self._rounded[rows]
        largest = self.op("Max", self.op("ReduceMax", self.op("Abs", rows), [-1], keepdims=1), LEAST)
        scale = self.op("Mul", largest, 1 / LARGEST_INPUT)
        # What becomes a whole number loses what comes after the point.
        return self.op("Cast", self.op("Add", self.op("Div", rows, scale), ZERO + 0.5), to=TensorProto.UINT8), scale

    def _scale(self, product: str, scales: Operand, scale: str) -> str:
        """A product of whole numbers times the scales of its columns, and then times those of its rows.

        Of the other order, onnxruntime (1.31) makes one operator, whose result for a single row was a tenth off.
        """
        return self.op("Mul", self.op("Mul", self.op("Cast", product, to=TensorProto.FLOAT), scales), scale)

    def look_up(self, table: Tensor, words: str) -> str:
        numbers, scales = round_rows(table)
        whole = self.op("Cast", self.op("Gather", numbers, words), to=TensorProto.FLOAT)
        scale = self.op("Unsqueeze", self.op("Gather", scales, words), [-1])
        rows = self.op("Mul", whole, scale)
        self._rounded[rows] = self.op("Cast", self.op("Add", whole, float(ZERO)), to=TensorProto.UINT8), scale
        return rows

    def recurrent(self, weight: Tensor) -> str:
        """Rounded; onnxruntime computes the product with the scales when it loads the model."""
        numbers, scales = round_rows(weight, LARGEST_INPUT)
        return self.op("Mul", self.op("Cast", numbers, to=TensorProto.FLOAT), scales[..., None])


def round_rows(weight: Tensor, largest: int = LARGEST) -> tuple[np.ndarray, np.ndarray]:
    """A matrix as whole numbers up to the largest, and the scales of its rows."""
    values = weight.detach().float().cpu().numpy()
    scales = np.abs(values).max(axis=-1) / largest
    scales[scales == 0] = 1  # a row of zeros, such as that of padding
    return np.rint(values / scales[..., None]).astype(np.int8), scales
