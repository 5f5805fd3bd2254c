"""The output layer and its loss in one operation, against torch's."""

import math

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from recurrent_mt.kernels import cross_entropy as operation
from recurrent_mt.kernels.cross_entropy import cross_entropy
from tests.kernels.batches import every_backend, random, within

ROWS, SIZE, VOCABULARY = 11, 4, 7


@pytest.fixture(params=[1, 4, 100], ids=lambda rows: f"{rows} rows at a time")
def few_rows(request, monkeypatch):
    monkeypatch.setattr(operation, "FEWEST_ROWS", request.param)
    monkeypatch.setattr(operation, "SCORES", {"cpu": 1})


def problem(dtype=torch.float64, *, bias=True):
    factors = [random(ROWS, SIZE, seed=1), random(VOCABULARY, SIZE, seed=2), random(VOCABULARY, seed=3)]
    factors = [factor.to(dtype).requires_grad_() for factor in factors]
    target = torch.arange(ROWS) * 3 % VOCABULARY
    return factors[0], factors[1], factors[2] if bias else None, target


def loss_of(*arguments, **options):
    loss, of_targets = cross_entropy(*arguments, **options)
    assert torch.equal(loss, of_targets) and not of_targets.requires_grad
    return loss


def torchs(features, weight, bias, target):
    scores = F.linear(features, weight, bias)
    return F.cross_entropy(scores.to(torch.promote_types(scores.dtype, torch.float32)), target, reduction="sum")


def gradients(loss, factors):
    return torch.autograd.grad(3 * loss, [factor for factor in factors if factor is not None])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@every_backend(["reference", "packed", "native"])
def test_loss_and_gradients_are_those_of_all_scores_at_once(few_rows, backend, dtype, bias):
    *factors, target = problem(dtype, bias=bias)
    ours, expected = within(backend, loss_of)(*factors, target), torchs(*factors, target)
    torch.testing.assert_close(ours, expected)
    for a, b in zip(gradients(ours, factors), gradients(expected, factors)):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("smoothing", [0.1, 0.9])
@every_backend(["reference", "packed", "native"])
def test_with_label_smoothing_losses_and_gradients_are_fairseqs(few_rows, backend, smoothing, bias):
    *factors, target = problem(bias=bias)
    ours = within(backend, cross_entropy)(*factors, target, label_smoothing=smoothing)
    log_probabilities = torch.log_softmax(F.linear(*factors), dim=1)
    expected = label_smoothed_nll_loss(log_probabilities, target, smoothing)
    torch.testing.assert_close(ours, expected)
    assert not ours[1].requires_grad
    for a, b in zip(gradients(ours[0], factors), gradients(expected[0], factors)):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@every_backend(["reference", "packed", "native"])
def test_the_gradient_is_that_of_the_loss(few_rows, backend, smoothing):
    *factors, target = problem()

    def loss(*given):
        return within(backend, cross_entropy)(*given, target, label_smoothing=smoothing)[0]

    assert torch.autograd.gradcheck(loss, factors, fast_mode=True)


@every_backend(["reference", "packed", "native"])
def test_an_impossible_word_does_not_count_without_label_smoothing(backend):
    features, weight, bias, target = problem()
    with torch.no_grad():
        bias[5] = -torch.inf
    target[target == 5] = 0
    ours, expected = (run(features, weight, bias, target) for run in (loss_of, torchs))
    assert expected.isfinite()
    torch.testing.assert_close(ours, expected)


@pytest.mark.parametrize("smoothing", [-0.1, 1.0, torch.nan])
def test_label_smoothing_out_of_range_is_refused(smoothing):
    with pytest.raises(ValueError, match="label_smoothing must be from 0 to below 1, not"):
        cross_entropy(*problem(), label_smoothing=smoothing)


def test_one_word_alone_is_certain():
    features, target = random(3, SIZE), torch.zeros(3, dtype=torch.long)
    assert loss_of(features, random(1, SIZE), None, target) == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_the_loss_of_narrow_weights_is_wide(few_rows, dtype):
    *factors, target = problem(dtype)
    ours, expected = loss_of(*factors, target), torchs(*factors, target)
    assert ours.dtype == torch.float32
    tolerance = 16 * torch.finfo(dtype).eps
    torch.testing.assert_close(ours, expected, rtol=tolerance, atol=0)
    for factor, a, b in zip(factors, gradients(ours, factors), gradients(expected, factors)):
        assert a.dtype == factor.dtype
        assert (a - b).float().norm() <= tolerance * b.float().norm()


def test_a_float16_model_that_is_sure_still_learns_from_all_other_words():
    """Ten thousand of them have a probability of 1.5e-8 each, a quarter of float16's least number."""
    features = torch.tensor([[18, 0]], dtype=torch.float16, requires_grad=True)
    weight = torch.tensor([[1, 0], *[[0, 1]] * 10_000], dtype=torch.float16)
    (found,) = gradients(1024 * loss_of(features, weight, None, torch.tensor([0])), [features])
    expected = 3 * 1024 * 10_000 * math.exp(-18)
    assert found[0, 1].item() == pytest.approx(expected, rel=0.01)


@every_backend(["packed", "native"])
def test_under_autocast_products_are_narrow_and_the_loss_is_not(few_rows, backend):
    *factors, target = problem(torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ours = within(backend, loss_of)(*factors, target)
    narrow = [factor.detach().bfloat16() for factor in factors[:2]]
    expected = F.cross_entropy(F.linear(*narrow).float() + factors[2], target, reduction="sum")
    torch.testing.assert_close(ours, expected, rtol=0.01, atol=0)  # `native` does not round the scores
    for a, b in zip(gradients(ours, factors), gradients(torchs(*factors, target), factors)):
        assert a.dtype == torch.float32 and (a - b).norm() <= 0.02 * b.norm()


@every_backend(["packed", "native"])
def test_only_wanted_gradients_of_the_loss_are_made(backend):
    features, weight, bias, target = problem()
    alone = within(backend, loss_of)(features, weight.detach(), bias.detach(), target)
    (only,) = torch.autograd.grad(alone, [features])
    torch.testing.assert_close(only, torch.autograd.grad(torchs(features, weight, bias, target), [features])[0])
    assert not loss_of(features.detach(), weight.detach(), None, target).requires_grad


@every_backend(["packed", "native"])
def test_a_second_backward_pass_gives_the_same(backend):
    *factors, target = problem()
    loss = within(backend, loss_of)(*factors, target)
    first, second = (torch.autograd.grad(loss, factors, retain_graph=True) for _ in range(2))
    for a, b in zip(first, second):
        assert torch.equal(a, b)


class Largest(TorchDispatchMode):
    """Notes how many numbers the largest tensor has that an operation returns."""

    numbers = 0

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        result = function(*arguments, **(options or {}))
        if isinstance(result, torch.Tensor):
            self.numbers = max(self.numbers, result.numel())
        return result


class Made(TorchDispatchMode):
    """Notes the shapes of what operations return, but for views of the weight."""

    def __init__(self, weight):
        super().__init__()
        self.weight, self.shapes = weight, []

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        result = function(*arguments, **(options or {}))
        for one in result if isinstance(result, tuple) else [result]:
            if isinstance(one, torch.Tensor) and one.data_ptr() != self.weight.data_ptr():
                self.shapes.append(tuple(one.shape))
        return result


@every_backend(["packed", "native"])
def test_without_autograd_no_gradient_is_made(backend):
    features, weight, bias, target = problem()
    with Made(weight) as training:
        within(backend, loss_of)(features, weight, bias, target)
    with Made(weight) as validation, torch.no_grad():
        within(backend, loss_of)(features, weight, bias, target)
    assert (VOCABULARY, SIZE) in training.shapes and (VOCABULARY, SIZE) not in validation.shapes


def test_the_scores_are_never_all_made_at_once(monkeypatch):
    monkeypatch.setattr(operation, "SCORES", {"cpu": 1000})
    rows, vocabulary = 4 * operation.FEWEST_ROWS, 50
    features, weight = random(rows, SIZE, seed=1), random(vocabulary, SIZE, seed=2)
    with Largest() as largest:
        loss = within("packed", loss_of)(
            features.requires_grad_(), weight.requires_grad_(), None, torch.zeros(rows, dtype=torch.long)
        )
        loss.backward()
    assert largest.numbers == operation.FEWEST_ROWS * vocabulary


@every_backend(["packed", "native"])
def test_the_loss_of_no_rows_is_zero(backend):
    weight = random(VOCABULARY, SIZE).requires_grad_()
    loss = within(backend, loss_of)(torch.zeros(0, SIZE), weight, None, torch.zeros(0, dtype=torch.long))
    assert loss == 0 and not torch.autograd.grad(loss, weight)[0].any()


@pytest.mark.parametrize("wrong", ["weight", "bias", "target"])
def test_shapes_that_do_not_fit_are_refused(wrong):
    features, weight, bias, target = problem()
    given = {"weight": weight, "bias": bias, "target": target}
    given[wrong] = given[wrong][:, 1:] if wrong == "weight" else given[wrong][1:]
    with pytest.raises(ValueError, match=r"do not fit: \(11, 4\)"):
        loss_of(features, **given)


@every_backend(["native"])
@pytest.mark.parametrize("word", [-1, VOCABULARY])
def test_a_target_outside_the_vocabulary_is_refused(backend, word):
    features, weight, bias, target = problem()
    target[3] = word
    with pytest.raises(ValueError, match="target must be from 0 to 6"):
        within(backend, loss_of)(features, weight, bias, target)


@every_backend(["packed", "native"])
def test_rows_beyond_one_piece_count_as_much(backend):
    """More rows than any backend scores at once, and a vocabulary that is no multiple of anything."""
    features, weight = random(600, 5).requires_grad_(), random(131, 5, seed=1).requires_grad_()
    target = torch.arange(600) % 131
    ours, expected = (
        within(backend, loss_of)(features, weight, None, target),
        torchs(features, weight, None, target),
    )
    torch.testing.assert_close(ours, expected)
    for a, b in zip(gradients(ours, [features, weight]), gradients(expected, [features, weight])):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
