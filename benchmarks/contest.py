"""A case, and what it is made into to be measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .products import Product
from .setting import Setting

#: Sizes and kinds by name: what a case is told apart by, printed and written to JSON.
Shape = Mapping[str, int | str]


@dataclass(frozen=True)
class Contest:
    """What runs against what.

    Attributes:
        run: ours.
        products: what ours cannot do without.
        check: raises ParityError unless ours agrees with the reference kernels.
        unit: what speed counts, ``words`` or ``sentences``.
        amount: how many of them one run works through.
        stock: fairseq's ``lstm`` of the same sizes on the same batch, where there is such a thing.
    """

    run: Callable[[], object]
    products: Sequence[Product]
    check: Callable[[], None]
    unit: str
    amount: int
    stock: Callable[[], object] | None = None

    def contestants(self) -> dict[str, Callable[[], object]]:
        """Ours, and the stock model where there is one."""
        return {"ours": self.run} | ({} if self.stock is None else {"stock": self.stock})


@dataclass(frozen=True)
class Family:
    """Cases of one kind.

    Attributes:
        name: what ``--cases`` calls it.
        about: what is timed, in a line.
        prepare: makes the contest of a setting and a shape; the shape's entries are keyword arguments.
        shapes: of the cases.
        quick: small ones, to see that everything runs; the first is also what memory is warmed up with.
        growth: the shape whose ``length`` and ``sentences`` are varied to see how cost grows.
        small_growth: the same for a quick run.
    """

    name: str
    about: str
    prepare: Callable[..., Contest]
    shapes: tuple[Shape, ...]
    quick: tuple[Shape, ...]
    growth: Shape
    small_growth: Shape

    def contest(self, setting: Setting, shape: Shape) -> Contest:
        """The contest of a shape."""
        return self.prepare(setting, **shape)
