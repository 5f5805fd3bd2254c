"""Ragged batches for the kernels' tests, and the comparison of two implementations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import pytest
import torch
from torch import Tensor

from recurrent_mt.kernels import native
from recurrent_mt.kernels.dispatch import using
from recurrent_mt.kernels.packing import Packing, make_packing
from tests.tolerances import PARITY

#: Lengths of the sentences of a batch; the last has one that is empty.
RAGGED = {"one": [1], "two": [2], "long": [63], "mixed": [7, 1, 63, 2], "equal": [7, 7, 7], "with_empty": [3, 0, 7, 1]}

#: Triton's interpreter has to be asked for before Triton is imported.
needs_interpreter = pytest.mark.skipif(
    find_spec("triton") is None or os.environ.get("TRITON_INTERPRET") != "1",
    reason="'fused' runs on the CPU with triton installed and TRITON_INTERPRET=1 alone",
)

needs_native = pytest.mark.skipif(native.reason_unavailable() is not None, reason=str(native.reason_unavailable()))


#: All implementations of a recurrence.
ALL = ("reference", "packed", "native", "fused")


def every_backend(names: Iterable[str]) -> pytest.MarkDecorator:
    """Runs a test with ``backend`` under each name, ``fused`` and ``native`` where they can run."""
    marks = {"fused": needs_interpreter, "native": needs_native}
    return pytest.mark.parametrize("backend", [pytest.param(name, marks=marks.get(name, ())) for name in names])


#: For `gradcheck`, in its fast mode, which tries one direction of all that there are: every single number of a gradient
#: is compared with that of the reference, which PyTorch differentiates.
every_gradient = pytest.mark.parametrize(
    "backend",
    [
        pytest.param("reference", marks=pytest.mark.slow),
        "packed",
        pytest.param("native", marks=needs_native),
    ],
)


def within(backend: str, operation: Callable[..., Any]) -> Callable[..., Any]:
    """The operation in that implementation; with ``auto``, in the one that is chosen."""

    def run(*arguments: Any, **options: Any) -> Any:
        if backend == "auto":
            return operation(*arguments, **options)
        with using(backend):
            return operation(*arguments, **options)

    return run


def packing_of(lengths: Sequence[int], *, left_pad: bool = True) -> Packing:
    """The packing of sentences of these lengths."""
    width, positions = max(lengths), torch.arange(max(lengths))
    column = torch.tensor(lengths)[:, None]
    return make_packing(positions < width - column if left_pad else positions >= column)


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normal numbers, the same for the same shape and seed."""
    generator = torch.Generator().manual_seed(seed + sum(n * 31**i for i, n in enumerate(shape)))
    return torch.randn(shape, generator=generator, dtype=dtype)


def assert_same_outputs_and_gradients(
    function: Callable[..., Sequence[Tensor]], arguments: Sequence[Tensor], backends: Sequence[str]
) -> None:
    """Runs ``function(backend, *arguments)`` under each backend: outputs and all gradients must agree with the first's.

    The loss weighs every output element differently, so that no two errors cancel.
    """
    results = []
    for backend in backends:
        leaves = [argument.clone().requires_grad_() for argument in arguments]
        outputs = function(backend, *leaves)
        loss = sum((o * random(*o.shape, seed=5, dtype=o.dtype).to(o.device)).sum() for o in outputs if o.requires_grad)
        results.append((outputs, torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)))
    tolerance = PARITY[arguments[0].dtype]
    for outputs, gradients in results[1:]:
        torch.testing.assert_close(outputs, results[0][0], **tolerance)
        torch.testing.assert_close(gradients, results[0][1], **tolerance)
