import ast
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from recurrent_mt.kernels import dispatch
from recurrent_mt.kernels.linear import linear
from tests.kernels.batches import ALL, needs_native, within
from tests.kernels.test_grconv import arguments, run
from tests.kernels.test_gru_parts import arguments as recurrence_of
from tests.kernels.test_gru_parts import every_recurrence

KERNELS = Path(dispatch.__file__).parent


def test_fused_without_triton_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(dispatch, "find_spec", lambda name: None)
    counts, tensors = arguments([2], 3)
    with pytest.raises(ValueError, match="grconv as 'fused' needs triton, which is not installed"):
        run(counts)("fused", *tensors)


def test_every_operation_has_every_implementation():
    names = [path.stem for path in KERNELS.glob("*.py") if not path.stem.startswith("triton_")]
    modules = [import_module(f"recurrent_mt.kernels.{name}") for name in names]
    operations = {one for module in modules for one in vars(module).values() if isinstance(one, dispatch.Operation)}
    assert len(operations) == 8
    for operation in operations:
        assert {*operation.implementations} == {*ALL}, operation.name


def test_triton_is_only_imported_by_its_kernels():
    others = [path for path in KERNELS.rglob("*.py") if not path.stem.startswith("triton_")]
    assert len(others) > 15
    for path in others:
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                names = [alias.name for alias in statement.names] + (getattr(statement, "module", "") or "").split(".")
                assert not any(name.startswith("triton") for name in names), path


@pytest.mark.parametrize("products", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("states", [torch.float32, torch.float64])
@every_recurrence
def test_auto_runs_under_every_autocast(recurrence, products, states):
    function, tensors = recurrence_of(recurrence, [3, 2], product=False, dtype=states)
    with torch.autocast("cpu", dtype=products):
        found, expected = (function(name, *tensors) for name in ("auto", "packed"))
    torch.testing.assert_close(found, expected, rtol=2e-2, atol=2e-2)


@needs_native
@pytest.mark.parametrize(("states", "products"), [(torch.float64, torch.bfloat16), (torch.float32, torch.float16)])
def test_native_kernels_that_are_asked_for_refuse_an_autocast_that_they_do_not_know(states, products):
    function, tensors = recurrence_of("gru", [3, 2], product=False, dtype=states)
    with (
        torch.autocast("cpu", dtype=products),
        pytest.raises(ValueError, match="gru as 'native' can be under autocast"),
    ):
        function("native", *tensors)


@every_recurrence
@pytest.mark.parametrize("name", ["packed", pytest.param("native", marks=needs_native)])
def test_a_backward_pass_inside_autocast_is_that_outside_of_it(recurrence, name):
    function, tensors = recurrence_of(recurrence, [3, 2], product=False, dtype=torch.float32)
    tensors = [tensor.detach().requires_grad_() for tensor in tensors]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = function(name, *tensors)
        loss = (outputs if isinstance(outputs, torch.Tensor) else outputs[0]).float().square().sum()
        inside = torch.autograd.grad(loss, tensors, retain_graph=True, allow_unused=True)
    outside = torch.autograd.grad(loss, tensors, allow_unused=True)
    torch.testing.assert_close(inside, outside, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("triton", "capability", "expected"),
    [(True, (9, 0), "fused"), (True, (7, 0), "fused"), (True, (6, 1), "packed"), (False, (9, 0), "packed")],
)
def test_auto_on_a_gpu_is_fused_where_triton_compiles(triton, capability, expected, monkeypatch):
    dispatch._has_triton.cache_clear()
    monkeypatch.setattr(dispatch, "find_spec", lambda name: object() if triton else None)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    weight = SimpleNamespace(device=torch.device("cuda", 0), dtype=torch.float32)
    assert dispatch.selected(weight) == expected
    assert within("packed", dispatch.selected)(weight) == "packed"
    dispatch._has_triton.cache_clear()


@needs_native
def test_a_process_that_asks_for_native_kernels_loads_them():
    program = (
        "import torch; from recurrent_mt.kernels.linear import dropout, linear; x = torch.ones(99, 3); "
        "print(dropout(linear(x, torch.ones(2, 3)), 0.5, training=True).shape)"
    )
    environment = {**os.environ, dispatch.VARIABLE: "native"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout == "torch.Size([99, 2])\n", done.stderr


def test_native_kernels_that_cannot_run_are_refused_in_layers_too():
    with (
        dispatch.using("native"),
        pytest.raises(ValueError, match="linear as 'native' runs on the CPU, but the tensors"),
    ):
        linear(torch.ones(99, 3, device="meta"), torch.ones(2, 3, device="meta"))
