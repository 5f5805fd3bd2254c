"""Linear layers in C++, in place of torch's wherever a model has them."""

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from recurrent_mt.kernels.linear import FEWEST_ROWS, _Linear, linear_layers
from tests.kernels.batches import assert_same_outputs_and_gradients, needs_native, random
from tests.models.building import build, sample

pytestmark = needs_native


class Counter(TorchDispatchMode):
    """How often native linear layers are called."""

    calls = 0

    def __torch_dispatch__(self, operation, types, arguments=(), options=None):
        self.calls += operation.namespace == "recurrent_mt" and operation._opname == "linear"
        return operation(*arguments, **(options or {}))


def native_calls(rows, layer, backend="auto"):
    with torch.no_grad(), Counter() as counter, linear_layers(backend, rows):
        products = layer(rows)
    return counter.calls, products


@pytest.mark.parametrize("shape", [(FEWEST_ROWS, 5), (7, 11, 5), (2, 8, 9, 5), (3000, 5)])
@pytest.mark.parametrize("bias", [True, False])
def test_outputs_and_gradients_are_torchs(shape, bias):
    def run(backend, rows, weight, added):
        with linear_layers(backend, rows):
            return [nn.functional.linear(rows, weight, added if bias else None)]

    assert_same_outputs_and_gradients(run, [random(*shape), random(3, 5), random(3)], ["packed", "native"])


@pytest.mark.parametrize("bias", [[], [random(3, dtype=torch.float64)]])
def test_the_gradient_is_that_of_the_products(bias):
    """In double precision, which layers leave to torch."""
    factors = [random(4, 5, dtype=torch.float64), random(3, 5, dtype=torch.float64), *bias]
    leaves = [factor.clone().requires_grad_() for factor in factors]
    assert torch.autograd.gradcheck(lambda *given: _Linear.apply(*given, *[None] * (3 - len(given))), leaves)


@pytest.mark.parametrize(("number", "tolerance"), [(torch.float32, 1e-6), (torch.bfloat16, 2**-8)])
@pytest.mark.parametrize("count", [1, 31, 130, 513, 1100])
@pytest.mark.parametrize(("height", "width"), [(1, 1), (17, 130), (250, 63), (500, 40)])
def test_the_gradient_of_a_weight_sums_up_any_number_of_rows(count, height, width, number, tolerance):
    grad, rows = random(count, height), random(count, width)
    weight = torch.empty(height, width, dtype=number)
    sums = torch.ops.recurrent_mt.linear_backward(grad, rows, weight, False, True, False)[1]
    exact = grad.to(number).double().t() @ rows.to(number).double()
    assert sums.dtype == number and (sums - exact).norm() <= tolerance * exact.norm()


def test_rows_in_any_order_of_memory():
    rows, layer = random(5, FEWEST_ROWS).t(), nn.Linear(5, 3)
    calls, products = native_calls(rows, layer)
    assert calls == 1
    torch.testing.assert_close(products, layer(rows))


def test_only_wanted_gradients_are_made():
    rows, layer = random(FEWEST_ROWS, 5), nn.Linear(5, 3).requires_grad_(False)
    layer.bias.requires_grad_()
    with linear_layers("native", rows):
        products = layer(rows)
    products.sum().backward()
    assert layer.weight.grad is None and layer.bias.grad.eq(FEWEST_ROWS).all()
    for wanted in ([True, False, False], [False, True, False], [False, False, True]):
        grads = torch.ops.recurrent_mt.linear_backward(torch.ones(FEWEST_ROWS, 3), rows, layer.weight, *wanted)
        assert [grad is not None for grad in grads] == wanted


@pytest.mark.parametrize(
    ("rows", "backend"),
    [
        (random(FEWEST_ROWS - 1, 5), "native"),
        (random(FEWEST_ROWS, 5), "packed"),
        (random(FEWEST_ROWS, 5), "reference"),
        (random(FEWEST_ROWS, 5).double(), "auto"),
        (random(FEWEST_ROWS, 5).bfloat16(), "native"),
    ],
)
def test_the_rest_is_torchs(rows, backend):
    layer = nn.Linear(5, 3).to(rows.dtype)
    calls, products = native_calls(rows, layer, backend)
    assert calls == 0 and torch.equal(products, layer(rows))


def test_under_autocast_products_are_narrow_and_sums_are_not():
    rows, layer = random(FEWEST_ROWS, 5).requires_grad_(), nn.Linear(5, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16), linear_layers("auto", rows):
        products = layer(rows)
    narrow = rows.detach().bfloat16().float(), layer.weight.detach().bfloat16().float()
    torch.testing.assert_close(products, nn.functional.linear(*narrow, layer.bias))
    grads = torch.autograd.grad(products.square().sum(), [rows, *layer.parameters()])
    expected = torch.autograd.grad(layer(rows).square().sum(), [rows, *layer.parameters()])
    for ours, exact in zip(grads, expected):
        assert ours.dtype == torch.float32 and (ours - exact).norm() <= 0.01 * exact.norm()


@pytest.mark.parametrize("architecture", ["gru_encoder", "grconv_encoder", "sepconv_encoder"])
def test_models_take_them_in_both_encoder_and_decoder(architecture):
    model, batch = build(architecture), sample([40, 30], [50, 40])["net_input"]
    with torch.no_grad(), Counter() as counter:
        encoded = model.encoder(batch["src_tokens"], batch["src_lengths"])
        in_encoder, counter.calls = counter.calls, 0
        model.decoder(batch["prev_output_tokens"], encoded)
    assert in_encoder and counter.calls
