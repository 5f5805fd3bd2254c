"""Linear layers and dropout in C++, in place of PyTorch's wherever a model has them."""

import numpy
import pytest
import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from recurrent_mt.kernels.linear import FEWEST_ROWS, _Linear, dropout, linear
from recurrent_mt.layers.linear import Linear
from tests.kernels.batches import assert_same_outputs_and_gradients, needs_native, random, within
from tests.models.building import build, sample

pytestmark = needs_native


class Counter(TorchDispatchMode):
    """How often a native operation is called."""

    def __init__(self, operation="linear"):
        super().__init__()
        self.name = f"recurrent_mt::{operation}"
        self.calls = 0

    def __torch_dispatch__(self, operation, types, arguments=(), options=None):
        self.calls += operation._schema.name == self.name
        return operation(*arguments, **(options or {}))


def native_calls(rows, layer, backend="auto"):
    with torch.no_grad(), Counter() as counter:
        products = within(backend, layer)(rows)
    return counter.calls, products


@pytest.mark.parametrize("shape", [(FEWEST_ROWS, 5), (7, 11, 5), (2, 8, 9, 5), (3000, 5)])
@pytest.mark.parametrize("bias", [True, False])
def test_outputs_and_gradients_are_torchs(shape, bias):
    def run(backend, rows, weight, added):
        return [within(backend, linear)(rows, weight, added if bias else None)]

    assert_same_outputs_and_gradients(run, [random(*shape), random(3, 5), random(3)], ["packed", "native"])


def test_rows_of_another_width_are_refused():
    with pytest.raises(ValueError, match="rows must be as wide as the weight, 4, not 5"):
        within("native", linear)(random(FEWEST_ROWS, 5), random(3, 4))


@pytest.mark.parametrize("bias", [[], [random(3, dtype=torch.float64)]])
def test_the_gradient_is_that_of_the_products(bias):
    """In double precision, which layers leave to torch."""
    factors = [random(4, 5, dtype=torch.float64), random(3, 5, dtype=torch.float64), *bias]
    leaves = [factor.clone().requires_grad_() for factor in factors]
    rest = [*[None] * (3 - len(leaves)), torch.float64]
    assert torch.autograd.gradcheck(lambda *given: _Linear.apply(*given, *rest), leaves)


@pytest.mark.parametrize("number", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("count", [1, 31, 130, 513, 1100])
@pytest.mark.parametrize(("height", "width"), [(1, 1), (17, 130), (250, 63), (500, 40)])
def test_the_gradient_of_a_weight_sums_up_any_number_of_rows(count, height, width, number):
    grad, rows = random(count, height), random(count, width)
    weight = torch.empty(height, width)
    sums = torch.ops.recurrent_mt.linear_backward(grad, rows, weight, number, False, True, False)[1]
    exact = grad.to(number).double().t() @ rows.to(number).double()
    assert sums.dtype == torch.float32 and (sums - exact).norm() <= 1e-6 * exact.norm()


@pytest.mark.parametrize("width", [1, 15, 16, 64, 65, 130])
def test_numbers_are_rounded_to_bfloat16_as_torch_does(width):
    numbers = random(70, width)
    halves = torch.randint(-(2**14), 2**14, numbers.shape).int() * 2**16 + 2**15  # between two numbers of bfloat16
    numbers = torch.where(halves % 3 == 0, halves.view(torch.float32).nan_to_num(1), numbers).clamp(-1e30, 1e30)
    numbers[numbers.abs() < 1e-37] = 0
    expected, number = numbers.bfloat16().float(), torch.bfloat16
    for side in (width, 70):
        one = torch.eye(side)
        rows, weight = (numbers, one) if side == width else (one, numbers.t().contiguous())
        assert torch.ops.recurrent_mt.linear(rows, weight, None, number).equal(expected)
    needed = [True, True, False]
    grad_rows, grad_weight, _ = torch.ops.recurrent_mt.linear_backward(torch.eye(70), numbers, numbers, number, *needed)
    assert grad_rows.equal(expected) and grad_weight.equal(expected)


def test_rows_in_any_order_of_memory():
    rows, layer = random(5, FEWEST_ROWS).t(), Linear(5, 3)
    calls, products = native_calls(rows, layer)
    assert calls == 1
    torch.testing.assert_close(products, F.linear(rows, layer.weight, layer.bias))


def test_only_wanted_gradients_are_made():
    rows, layer = random(FEWEST_ROWS, 5), Linear(5, 3).requires_grad_(False)
    layer.bias.requires_grad_()
    products = within("native", layer)(rows)
    products.sum().backward()
    assert layer.weight.grad is None and layer.bias.grad.eq(FEWEST_ROWS).all()
    for wanted in ([True, False, False], [False, True, False], [False, False, True]):
        given = torch.ones(FEWEST_ROWS, 3), rows, layer.weight, torch.float32
        grads = torch.ops.recurrent_mt.linear_backward(*given, *wanted)
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
    layer = Linear(5, 3).to(rows.dtype)
    calls, products = native_calls(rows, layer, backend)
    assert calls == 0 and torch.equal(products, F.linear(rows, layer.weight, layer.bias))


def test_under_autocast_products_are_narrow_and_sums_are_not():
    rows, layer = random(FEWEST_ROWS, 5).requires_grad_(), Linear(5, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        products = layer(rows)
    narrow = rows.detach().bfloat16().float(), layer.weight.detach().bfloat16().float()
    torch.testing.assert_close(products, F.linear(*narrow, layer.bias))
    grads = torch.autograd.grad(products.square().sum(), [rows, *layer.parameters()])
    exact = F.linear(rows, layer.weight, layer.bias)
    expected = torch.autograd.grad(exact.square().sum(), [rows, *layer.parameters()])
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


def threefry(counters, key):
    """The four words of each counter, from the paper's definition: rounds, rotations, and keys in between."""
    rotations = [(10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20)]
    keys = [key & 0xFFFFFFFF, key >> 32, 0, 0]
    keys = [numpy.uint32(one) for one in [*keys, 0x1BD11BDA ^ keys[0] ^ keys[1]]]
    nothing = numpy.zeros_like(counters)
    words = [(counters & 0xFFFFFFFF), counters >> 32, nothing, nothing]
    with numpy.errstate(over="ignore"):
        words = [word.astype(numpy.uint32) + one for word, one in zip(words, keys)]
        for number in range(20):
            pairs = [(0, 3), (2, 1)] if number % 2 else [(0, 1), (2, 3)]
            for (one, other), turns in zip(pairs, rotations[number % 8]):
                words[one] = words[one] + words[other]
                turned = words[other] << numpy.uint32(turns) | words[other] >> numpy.uint32(32 - turns)
                words[other] = turned ^ words[one]
            if number % 4 == 3:
                turn = number // 4 + 1
                words = [word + keys[(turn + place) % 5] for place, word in enumerate(words)]
                words[3] = words[3] + numpy.uint32(turn)
    return words


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 5000, 100_001])
@pytest.mark.parametrize(("probability", "key"), [(0.2, 0), (0.7, 2**63 - 1), (0.5, 12345678901)])
def test_the_mask_is_threefrys(size, probability, key):
    # Of key and counter 0, the generator's authors publish these words.
    assert [int(word[0]) for word in threefry(numpy.zeros(1, int), 0)] == [
        0x9C6CA96A,
        0xE17EAE66,
        0xFC10ECD4,
        0x5256A7D8,
    ]
    words = numpy.stack(threefry(numpy.arange(size // 64 * 16 + 16), key))
    in_order = words.reshape(4, -1, 16).transpose(1, 0, 2).reshape(-1)[:size]
    kept = torch.from_numpy(in_order >= round(probability * 2**32))
    for number in torch.float32, torch.float64:
        values = random(size, dtype=number)
        dropped = torch.ops.recurrent_mt.dropout(values, probability, key)
        torch.testing.assert_close(dropped, torch.where(kept, values / (1 - probability), 0))


def dropped(values, backend="auto", *, p, training=True):
    with Counter("dropout") as counter:
        result = within(backend, dropout)(values, p, training=training)
    return counter.calls, result


def test_dropout_is_drawn_anew_each_time_from_torchs_generator():
    ones = torch.ones(300, 500)
    torch.manual_seed(1)
    masks = [dropped(ones, p=0.2)[1] for _ in range(3)]
    torch.manual_seed(1)
    assert torch.equal(dropped(ones, p=0.2)[1], masks[0])
    for mask in masks:
        assert mask.unique().tolist() == [0, 1.25]
        assert mask.eq(0).float().mean().item() == pytest.approx(0.2, abs=0.005)  # five standard deviations
    both = (masks[0].eq(0) & masks[1].eq(0)).float().mean().item()
    assert both == pytest.approx(0.04, abs=0.003)


def test_dropouts_gradient_goes_where_a_number_went():
    values = random(40, 30).requires_grad_()
    kept = dropped(values, p=0.4)[1]
    kept.sum().backward()
    torch.testing.assert_close(values.grad, kept.detach().ne(0) / 0.6)
    # Numbers in another order in memory, with gradients that differ.
    turned, weights = random(30, 40).t().requires_grad_(), random(40, 30)
    kept = dropped(turned, p=0.4)[1]
    assert 0.5 < kept.ne(0).float().mean() < 0.7
    torch.testing.assert_close(kept, torch.where(kept.ne(0), turned / 0.6, 0))
    (grad,) = torch.autograd.grad((kept * weights).sum(), turned)
    torch.testing.assert_close(grad, torch.where(kept.ne(0), weights / 0.6, 0))


@pytest.mark.parametrize(
    ("values", "backend", "options"),
    [
        (random(5, 5), "packed", {"p": 0.5}),
        (random(5, 5).double(), "native", {"p": 0.5}),
        (random(5, 5).bfloat16(), "native", {"p": 0.5}),
        (random(5, 5), "native", {"p": 0.5, "training": False}),
        (random(5, 5), "native", {"p": 0.0}),
        (random(5, 5), "native", {"p": 1.0}),
    ],
)
def test_other_dropout_is_torchs(values, backend, options):
    torch.manual_seed(1)
    calls, result = dropped(values.clone(), backend, **options)
    torch.manual_seed(1)
    assert calls == 0 and torch.equal(result, F.dropout(values.clone(), **options))


class Elsewhere(TorchDispatchMode):
    """How often torch draws random numbers for dropout."""

    calls = 0

    def __torch_dispatch__(self, operation, types, arguments=(), options=None):
        self.calls += operation.namespace == "aten" and operation._opname in ("bernoulli_", "native_dropout")
        return operation(*arguments, **(options or {}))


@pytest.mark.parametrize("autocast", ["none", "bfloat16"])
@pytest.mark.parametrize("architecture", ["gru_encoder", "grconv_encoder"])
def test_models_drop_natively_wherever_they_drop(architecture, autocast):
    model, batch = build(architecture, dropout=0.5, autocast=autocast), sample([40, 30], [50, 40])["net_input"]
    with Counter("dropout") as native, Elsewhere() as elsewhere:
        loss = model(**batch)[0].float().sum()
    # Embeddings of both sides, annotations, summary, features.
    assert native.calls == 5 and not elsewhere.calls
    loss.backward()
