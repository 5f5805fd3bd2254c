"""A case: how it is computed, what is run, its check against the reference kernels, and the families that make cases.

Figures from different machines should not be compared, so a setting describes its own.
"""

from __future__ import annotations

import copy
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from recurrent_mt.kernels.backend import resolve

from .products import Product

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}

#: bfloat16 products, everything else in float32.
AUTOCAST = "autocast"


@dataclass(frozen=True)
class Setting:
    """What all cases of a run share.

    Attributes:
        device: ``cpu`` or ``cuda``.
        dtype: a name in :data:`DTYPES`, for our models and the bare products; or :data:`AUTOCAST`.
        stock_dtype: a name in :data:`DTYPES`, for fairseq's ``lstm``, the yardstick, which does not change when ours
            does.
        backend: of our kernels; with ``auto`` and ``native``, the search and Adam are compiled, too.
        threads: torch's threads, in this process and in those that measure memory.
        seconds: how long a case is timed, but never for fewer than :data:`~benchmarks.measurement.FEWEST` rounds.
    """

    device: str = "cpu"
    dtype: str = "float32"
    stock_dtype: str = "float32"
    backend: str = "auto"
    threads: int = 1
    seconds: float = 20.0

    @property
    def is_native(self) -> bool:
        """Whether all that can be compiled is asked for."""
        return self.backend in ("auto", "native")

    @property
    def number(self) -> torch.dtype:
        """The dtype of our models' weights in this run."""
        return torch.float32 if self.autocast else DTYPES[self.dtype]

    @property
    def autocast(self) -> bool:
        """Whether our models compute their products in a different format from their weights."""
        return self.dtype == AUTOCAST

    @property
    def product_number(self) -> torch.dtype:
        """The dtype of products, which determines how exact a run can be."""
        return torch.bfloat16 if self.autocast else DTYPES[self.dtype]

    @property
    def stock_number(self) -> torch.dtype:
        return DTYPES[self.stock_dtype]


#: Facts that two runs must share for their times to be comparable.
IDENTITY = ("processor", "cores", "device", "torch", "threads", "dtype", "stock_dtype", "float32_products")


def describe(setting: Setting) -> dict[str, str | int]:
    """The facts of this machine and run, by name."""
    device = torch.cuda.get_device_name() if setting.device == "cuda" else "cpu"
    backend = resolve(setting.backend, torch.zeros(0, device=setting.device))
    return {
        "processor": processor(),
        "cores": os.cpu_count() or 0,
        "device": device,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "threads": setting.threads,
        "dtype": setting.dtype,
        "stock_dtype": setting.stock_dtype,
        "backend": backend,
        "float32_products": torch.get_float32_matmul_precision(),
    }


def processor() -> str:
    """The processor's name, or its kind if the system does not say the name."""
    table = Path("/proc/cpuinfo")
    lines = table.read_text().splitlines() if table.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


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


#: How far a tensor may be from the reference's, computed in float64, as a share of its norm.
TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 0.05}

#: In bfloat16 also this many times as far as the reference kernels are in the same number format:
#: gradients that are sums of many signs lose most of their eight bits, whatever computes them.
TIMES_THE_ROUNDING = 2

#: A gradient smaller than this share of the greatest is compared as if it had that size: it is rounding.
LEAST_SHARE = 1e-3

#: How many sentences are compared; the reference loops are too slow for whole batches.
SENTENCES = 4


class ParityError(AssertionError):
    """Ours differs from the reference; nothing may be timed."""


def assert_parity(
    what: str,
    ours: Callable[[], Sequence[Tensor]],
    reference: Callable[[torch.dtype], Sequence[Tensor]],
    dtype: torch.dtype,
) -> None:
    """Compares tensors one by one, each by the norm of the difference.

    Args:
        what: what is compared, for the message.
        ours: makes the tensors in the run's dtype.
        reference: makes them with the reference kernels in a given dtype, in the same order.
        dtype: the format of the run's products.

    Raises:
        ParityError: naming the first tensor that is too far off.
    """
    expected = [tensor.detach().double() for tensor in reference(torch.float64)]
    norms = [float(tensor.norm()) for tensor in expected]
    allowed = [TOLERANCE[dtype] * max(norm, LEAST_SHARE * max(norms)) for norm in norms]
    if dtype == torch.bfloat16:
        rounding = _distances(reference(dtype), expected)
        allowed = [max(least, TIMES_THE_ROUNDING * distance) for least, distance in zip(allowed, rounding)]
    for index, distance in enumerate(_distances(ours(), expected)):
        if not distance <= allowed[index]:
            raise ParityError(
                f"{what}: tensor {index} of shape {tuple(expected[index].shape)} is {distance:.3g} from the reference, "
                f"which has the norm {norms[index]:.3g}; {allowed[index]:.3g} is allowed in {dtype}. Nothing was timed."
            )


def _distances(tensors: Sequence[Tensor], expected: Sequence[Tensor]) -> list[float]:
    return [float((tensor.detach().double() - theirs).norm()) for tensor, theirs in zip(tensors, expected, strict=True)]


def copy_in(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """A copy in that dtype, including its products."""
    module = copy.deepcopy(module).to(dtype)
    for part in module.modules():
        if hasattr(part, "autocast"):
            part.autocast = "none"  # type: ignore[assignment]  # a Module's attributes are tensors, says torch
    return module


def reference_of(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """A copy in that dtype, including its products, that uses the reference kernels.

    Raises:
        ValueError: if nothing in the module has a choice of kernels.
    """
    reference = copy_in(module, dtype)
    layers = [layer for layer in reference.modules() if hasattr(layer, "backend")]
    if not layers:
        raise ValueError(f"{type(module).__name__} has no layer with a choice of kernels to compare")
    for layer in layers:
        layer.backend = "reference"  # type: ignore[assignment]  # as above
    return reference


def assert_model_agrees(what: str, model: nn.Module, net_input: dict[str, Any], dtype: torch.dtype) -> None:
    """Compares a model's scores and all its gradients, without dropout.

    If products are narrower than the weights, it compares only the scores, and the gradients in float64: the two
    numbers that a maxout chooses between can be rounded to the same value and then share its gradient, and a small
    model has few of them.

    Args:
        what: what is compared, for the message.
        model: one of ours, in fairseq's form.
        net_input: a batch's.
        dtype: the format of the run's products.

    Raises:
        ParityError: if they differ.
    """
    training = model.training
    model.eval()
    try:
        narrow = dtype != next(model.parameters()).dtype
        if narrow:
            assert_parity(
                what,
                lambda: [model(**net_input)[0]],
                lambda number: [reference_of(model, number)(**net_input)[0]],
                dtype,
            )
        exact = copy_in(model, torch.float64) if narrow else model
        assert_parity(
            what,
            lambda: _scores_and_gradients(exact, net_input),
            lambda number: _scores_and_gradients(reference_of(model, number), net_input),
            next(exact.parameters()).dtype,
        )
    finally:
        model.train(training)


def _scores_and_gradients(model: nn.Module, net_input: dict[str, Any]) -> list[Tensor]:
    scores = model(**net_input)[0]
    return [scores, *torch.autograd.grad(scores, list(model.parameters()), constant_gradient(scores))]


def constant_gradient(output: Tensor) -> Tensor:
    """A gradient that is the same each time and different from entry to entry, like ``output``."""
    return _sines(output.shape, output.dtype, output.device)


@lru_cache(maxsize=16)
def _sines(shape: torch.Size, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Kept, since sines take a tenth of a small layer's time, which is not the layer's."""
    return (torch.arange(shape.numel(), device=device, dtype=torch.float32) * 0.7).sin_().view(shape).to(dtype)
