"""Dropout in C++: which numbers it drops, and that its backward pass drops the same."""

import pytest
import torch

from recurrent_mt.kernels.dropout import dropout
from tests.kernels.batches import every_backend, needs_native, random

#: More than one chunk of numbers with a seed of its own, and no multiple of one.
MANY = 200_003


def kept(size, probability, **options):
    return dropout(torch.ones(size), probability, **options) != 0


@every_backend(["packed", "native"])
@pytest.mark.parametrize("probability", [0.01, 0.2, 0.5, 0.97])
def test_as_many_numbers_are_dropped_as_the_probability_says(backend, probability):
    torch.manual_seed(1)
    share = 1 - kept(MANY, probability, backend=backend).double().mean()
    assert abs(share - probability) < 5 * (probability * (1 - probability) / MANY) ** 0.5


@every_backend(["packed", "native"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_kept_numbers_are_scaled_and_gradients_are_those_of_the_same_places(backend, dtype):
    values = random(7, 31, 5, dtype=dtype).requires_grad_()
    result = dropout(values, 0.3, backend=backend)
    mask = result != 0
    assert 0 < mask.sum() < mask.numel() and result.shape == values.shape
    torch.testing.assert_close(result, values * mask / 0.7)
    weights = random(5, 31, 7, seed=1, dtype=dtype).transpose(0, 2)
    (grad,) = torch.autograd.grad((result * weights).sum(), [values])
    torch.testing.assert_close(grad, weights * mask / 0.7)


@needs_native
def test_a_seed_of_pytorch_repeats_the_masks_and_each_call_has_its_own():
    masks = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        masks += [kept(MANY, 0.5, backend="native") for _ in range(2)]
    assert torch.equal(masks[0], masks[2]) and torch.equal(masks[1], masks[3])
    assert not torch.equal(masks[0], masks[1]) and not torch.equal(masks[0], masks[4])


@needs_native
@pytest.mark.parametrize("distance", [1, 2, 3, 16, 64, 256, 1 << 14, 1 << 15])
def test_no_place_knows_what_happens_to_another(distance):
    """The correlation of masks at a distance, and of the masks of two calls, is that of independent ones."""
    torch.manual_seed(distance)
    mask, other = (kept(MANY, 0.5, backend="native").double() * 2 - 1 for _ in range(2))
    for product in (mask[distance:] * mask[:-distance], mask[distance:] * other[:-distance], mask * other):
        assert abs(product.mean()) < 5 / product.numel() ** 0.5


@needs_native
def test_the_mask_does_not_depend_on_the_number_of_threads():
    before = torch.get_num_threads()
    masks = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            torch.manual_seed(5)
            masks.append(kept(MANY, 0.4, backend="native"))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(*masks)


@every_backend(["packed", "native"])
def test_probabilities_of_zero_and_one_need_no_chance(backend):
    values = random(5, 4)
    assert torch.equal(dropout(values, 0.0, backend=backend), values)
    assert not dropout(values, 1.0, backend=backend).any()
    assert dropout(values[:0], 0.5, backend=backend).shape == (0, 4)


@needs_native
@pytest.mark.parametrize(
    ("values", "probability", "message"),
    [
        (torch.ones(3), 1.0, "probability must be from 0 to below 1, not 1"),
        (torch.ones(3), float("nan"), "probability must be from 0 to below 1, not nan"),
        (torch.ones(3).half(), 0.5, "values must be float32 or float64, not Half"),
    ],
)
def test_the_operation_of_dropout_names_what_does_not_fit(values, probability, message):
    with pytest.raises(ValueError, match=message):
        torch.ops.recurrent_mt.dropout(values, probability, 1)
