"""A case: what is run and checked, the matrix products that it cannot do without, and the families that make cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from .setting import Setting


class Product(NamedTuple):
    """A matrix (m, k) times a matrix (k, n).

    Attributes:
        m: rows of the left one.
        k: columns of the left one, rows of the right one.
        n: columns of the right one.
        times: how often it is done.
        batch: how many such products one call computes, each of different matrices.
    """

    m: int
    k: int
    n: int
    times: int = 1
    batch: int = 1

    @property
    def operations(self) -> int:
        """Floating-point operations, two for each multiplication with its addition."""
        return 2 * self.m * self.k * self.n * self.times * self.batch


@dataclass(frozen=True)
class ProductList:
    """The products of a computation and of its gradients.

    Attributes:
        forward: those of the computation.
        backward: those of the gradients of its inputs and weights.
    """

    forward: tuple[Product, ...] = ()
    backward: tuple[Product, ...] = ()

    def __add__(self, other: ProductList) -> ProductList:
        return ProductList(self.forward + other.forward, self.backward + other.backward)

    def all(self) -> tuple[Product, ...]:
        """Returns the products of the forward and of the backward pass."""
        return self.forward + self.backward

    def times(self, number: int) -> ProductList:
        """Returns the same products, each repeated that many times."""
        return ProductList(_repeated(self.forward, number), _repeated(self.backward, number))


def _repeated(products: Iterable[Product], number: int) -> tuple[Product, ...]:
    return tuple(product._replace(times=product.times * number) for product in products)


def operations(products: Iterable[Product]) -> int:
    """Counts the floating-point operations of all products."""
    return sum(product.operations for product in products)


def linear(rows: int, inputs: int, outputs: int) -> ProductList:
    """A weight (outputs, inputs) times all rows at once."""
    backward = Product(rows, outputs, inputs), Product(outputs, rows, inputs)
    return ProductList((Product(rows, inputs, outputs),), backward)


def recurrent(counts: Sequence[int], inputs: int, outputs: int) -> ProductList:
    """A weight (outputs, inputs) times the rows of one position after the other, ``counts`` of them.

    The gradients of the rows also take one product per position; the weight's gradient is a single product.
    """
    positions = sorted(Counter(counts).items(), reverse=True)
    return ProductList(
        tuple(Product(count, inputs, outputs, times) for count, times in positions),
        (
            *(Product(count, outputs, inputs, times) for count, times in positions),
            Product(outputs, sum(counts), inputs),
        ),
    )


def runner(products: Sequence[Product], setting: Setting) -> Callable[[], None]:
    """A function that does nothing but these products."""
    generator = torch.Generator().manual_seed(0)

    def matrices(product: Product, rows: int, columns: int) -> Tensor:
        shape = (rows, columns) if product.batch == 1 else (product.batch, rows, columns)
        return torch.randn(shape, generator=generator).to(setting.device, setting.product_number)

    operands = [
        (matrices(product, product.m, product.k), matrices(product, product.k, product.n), product.times)
        for product in products
    ]

    def run() -> None:
        for left, right, times in operands:
            for _ in range(times):
                torch.matmul(left, right)

    return run


#: Sizes and kinds by name, which identify a case; printed and written to JSON.
Shape = Mapping[str, int | str]


@dataclass(frozen=True)
class Case:
    """Our code, the stock model beside it, and what both are measured against.

    Attributes:
        run: ours.
        products: the products ours cannot do without.
        check: raises ParityError unless ours agrees with the reference kernels.
        unit: what speed counts, ``words`` or ``sentences``.
        amount: how many of them one run processes.
        stock: fairseq's ``lstm`` of the same sizes on the same batch, if there is one.
    """

    run: Callable[[], object]
    products: Sequence[Product]
    check: Callable[[], None]
    unit: str
    amount: int
    stock: Callable[[], object] | None = None

    def runs(self) -> dict[str, Callable[[], object]]:
        """Returns ours, and the stock model if there is one, by name."""
        return {"ours": self.run} | ({} if self.stock is None else {"stock": self.stock})


@dataclass(frozen=True)
class Family:
    """Cases of one kind.

    Attributes:
        name: what ``--cases`` calls it.
        about: what is timed, in one line.
        prepare: makes the case for a setting and a shape; the shape's entries are keyword arguments.
        shapes: the shapes of the cases.
        quick: small ones, to check that everything runs; the first one also warms up the memory measurement.
        growth: the shape whose ``length`` and ``sentences`` are varied to see how cost grows.
        small_growth: the same for a quick run.
    """

    name: str
    about: str
    prepare: Callable[..., Case]
    shapes: tuple[Shape, ...]
    quick: tuple[Shape, ...]
    growth: Shape
    small_growth: Shape

    def case(self, setting: Setting, shape: Shape) -> Case:
        return self.prepare(setting, **shape)
