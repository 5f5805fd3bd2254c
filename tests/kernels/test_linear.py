"""Products of many rows with one weight: the same by either library, and by PyTorch where they are not chosen."""

import pytest
import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from recurrent_mt.kernels import linear as module
from recurrent_mt.kernels.linear import FEWEST_ROWS, linear
from tests.kernels.batches import needs_native, random
from tests.tolerances import PARITY


@pytest.fixture
def slow_mkl(monkeypatch):
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this PyTorch has no oneDNN")
    monkeypatch.setattr(module, "mkl_is_slow", lambda: True)


class Operations(TorchDispatchMode):
    """Notes the operations that run."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        self.names.add(function.name())
        return function(*arguments, **(options or {}))


def uses_onednn(*tensors, **options):
    with Operations() as found:
        linear(*tensors, **options)
    return "mkldnn::_linear_pointwise" in found.names


@needs_native
@pytest.mark.parametrize("shape", [(FEWEST_ROWS, 7), (13, 11, 5), (300, 64), (2, 100, 130)])
@pytest.mark.parametrize("columns", [1, 63, 128])
@pytest.mark.parametrize("bias", [True, False])
def test_products_and_gradients_are_pytorchs(slow_mkl, shape, columns, bias):
    tensors = [
        random(*shape),
        random(columns, shape[-1], seed=1) / shape[-1] ** 0.5,
        *([random(columns)] if bias else []),
    ]
    assert uses_onednn(*tensors, backend="native")
    results = []
    for run in (F.linear, lambda *given: linear(*given, backend="native")):
        leaves = [tensor.clone().requires_grad_() for tensor in tensors]
        products = run(*leaves)
        results.append([products, *torch.autograd.grad((products * random(*products.shape, seed=2)).sum(), leaves)])
    torch.testing.assert_close(results[1], results[0], **PARITY[torch.float32])


@needs_native
def test_rows_and_gradients_of_any_strides_are_multiplied(slow_mkl):
    rows, weight = random(100, 200).t()[::2].requires_grad_(), random(30, 100, seed=1).t().contiguous().t()
    products = linear(rows, weight, backend="native")
    torch.testing.assert_close(products, F.linear(rows, weight), **PARITY[torch.float32])
    (grad,) = torch.autograd.grad(products.sum(), [rows])
    torch.testing.assert_close(grad, weight.sum(0).expand(100, 100), **PARITY[torch.float32])


@needs_native
def test_pytorch_decides_wherever_onednn_would_not_be_faster(slow_mkl, monkeypatch):
    rows, weight = random(FEWEST_ROWS, 8), random(4, 8)
    assert uses_onednn(rows, weight, backend="native") and uses_onednn(rows, weight, backend="auto")
    assert not any(uses_onednn(rows, weight, backend=other) for other in ("packed", "reference", "fused"))
    assert not uses_onednn(rows[1:], weight, backend="native")
    assert not uses_onednn(rows.double(), weight.double(), backend="native")
    assert not uses_onednn(rows[:, :0], weight[:, :0], backend="native")
    with torch.autocast("cpu", torch.bfloat16):
        assert not uses_onednn(rows, weight, backend="native")
    monkeypatch.setattr(module, "mkl_is_slow", lambda: False)
    assert not uses_onednn(rows, weight, backend="native")


@needs_native
def test_only_wanted_gradients_of_products_are_made(slow_mkl):
    rows, weight, bias = random(100, 8), random(4, 8), random(4)
    for wanted in (rows, weight, bias):
        wanted.requires_grad_()
        (found,) = torch.autograd.grad(linear(rows, weight, bias, backend="native").square().sum(), [wanted])
        (expected,) = torch.autograd.grad(F.linear(rows, weight, bias).square().sum(), [wanted])
        torch.testing.assert_close(found, expected, **PARITY[torch.float32])
        wanted.requires_grad_(False)


@pytest.mark.parametrize(
    ("name", "avx512", "slow"),
    [("AMD EPYC", True, True), ("AMD EPYC", False, False), ("Intel(R) Xeon(R) Platinum", True, False)],
)
def test_mkl_is_slow_on_processors_with_avx512_that_are_not_intels(monkeypatch, name, avx512, slow):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"cpu_name": name, "avx512_f": avx512}, raising=False)
    for library in (torch.backends.mkl, torch.backends.mkldnn):
        monkeypatch.setattr(library, "is_available", lambda: True)
    assert module.mkl_is_slow.__wrapped__() is slow
