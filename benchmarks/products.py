"""The matrix products of a computation: recorded while it runs, and done again with nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

#: torch's operations that multiply matrices, without the ``_`` of those that work in place, and the places of their
#: left factors; the right ones follow.
PRODUCTS = {"mm": 0, "bmm": 0, "mv": 0, "addmm": 1, "baddbmm": 1, "addmv": 1}


class Product(NamedTuple):
    """A matrix (m, k) times a matrix (k, n), or as many different ones as ``batch`` says in one call."""

    m: int
    k: int
    n: int
    batch: int = 1

    @classmethod
    def of(cls, left: Tensor, right: Tensor) -> Product:
        """The product of two matrices, of a matrix and a vector, or of two batches of matrices."""
        columns = 1 if right.dim() == 1 else right.size(-1)
        return cls(left.size(-2), left.size(-1), columns, left.size(0) if left.dim() > 2 else 1)


#: Products, and how often each is done.
Products = Mapping[Product, int]


class Recorder(TorchDispatchMode):
    """Counts the products of torch that are done while it is entered.

    Attributes:
        products: those of so far.
    """

    def __init__(self) -> None:
        super().__init__()
        self.products: Counter[Product] = Counter()

    def __torch_dispatch__(self, operation: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        name = operation.overloadpacket.__name__.removesuffix("_")
        if operation.namespace == "aten" and name in PRODUCTS:
            place = PRODUCTS[name]
            self.products[Product.of(arguments[place], arguments[place + 1])] += 1
        return operation(*arguments, **(keywords or {}))


def record(run: Callable[[], object]) -> Products:
    """The products that a function does by torch, with those of its gradients."""
    with Recorder() as recorder:
        run()
    return recorder.products


def operations(products: Products) -> int:
    """Counts the floating-point operations of all products, two for each multiplication with its addition."""
    return sum(2 * m * k * n * batch * times for (m, k, n, batch), times in products.items())


def replay(products: Products, device: str, dtype: torch.dtype) -> Callable[[], None]:
    """A function that does these products of random matrices, and nothing else."""
    generator = torch.Generator().manual_seed(0)

    def draw(batch: int, rows: int, columns: int) -> Tensor:
        shape = (rows, columns) if batch == 1 else (batch, rows, columns)
        return torch.randn(shape, generator=generator).to(device, dtype)

    factors = [
        (draw(product.batch, product.m, product.k), draw(product.batch, product.k, product.n), times)
        for product, times in products.items()
    ]

    def run() -> None:
        for left, right, times in factors:
            for _ in range(times):
                torch.matmul(left, right)

    return run
