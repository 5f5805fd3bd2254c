"""A case: what is run and checked, and the families that make cases of a shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .products import Product
from .setting import Setting

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
        """Makes the case for one of the shapes."""
        return self.prepare(setting, **shape)
