"""Products in C++, multiplied by what the processor has and by what lesser ones have."""

import json
import os
import subprocess
import sys

import pytest
import torch

from recurrent_mt.kernels.native import reason_unavailable
from tests.kernels.batches import needs_native

pytestmark = needs_native

ROWS = (1, 5, 7, 49, 250)
CAPABILITIES = ("DEFAULT", "AVX2", "AVX512")
SHAPES = ((1, 1), (8, 16), (17, 15), (30, 33), (515, 70), (1100, 64))


def largest_errors():
    """Over rows and shapes, against float64, in units of the numbers' rounding: one for each format and product."""
    assert reason_unavailable() is None
    generator, largest = torch.Generator().manual_seed(1), {}
    for number in (torch.float32, torch.bfloat16):
        for count in ROWS:
            for inner, columns in SHAPES:
                sizes = (count, inner), (columns, inner), (count, columns)
                rows, weight, grad = (torch.randn(size, generator=generator).to(number).float() for size in sizes)
                made = [torch.ops.recurrent_mt.linear(rows, weight, None, number)]
                wanted = [True, True, False]
                made += torch.ops.recurrent_mt.linear_backward(grad, rows, weight, number, *wanted)[:2]
                exact = [rows.double() @ weight.double().t(), grad.double() @ weight.double()]
                exact.append(grad.double().t() @ rows.double())
                for name, ours, truth in zip(("product", "rows", "weight"), made, exact):
                    error = ((ours - truth).norm() / truth.norm() / torch.finfo(ours.dtype).eps).item()
                    key = f"{name} {number}"
                    largest[key] = max(largest.get(key, 0), error)
    return largest


def measure():
    """The instruction set that is used, and the errors."""
    return torch.backends.cpu.get_cpu_capability(), largest_errors()


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_products_are_exact_with_every_instruction_set(capability):
    here = torch.backends.cpu.get_cpu_capability()
    if capability not in CAPABILITIES[: CAPABILITIES.index(here) + 1 if here in CAPABILITIES else 1]:
        pytest.skip(f"this processor has {here} at most")
    if capability == here:
        check(*measure(), capability)
        return
    run = subprocess.run(
        [sys.executable, "-c", f"import json, {__name__} as here; print(json.dumps(here.measure()))"],
        env=os.environ | {"ATEN_CPU_CAPABILITY": capability.lower()},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    check(*json.loads(run.stdout), capability)


def check(used, errors, capability):
    assert used == capability and len(errors) == 6 and max(errors.values()) < 10, errors
