"""One update by fairseq's trainer compared with the same update by hand."""

import copy

import pytest
import torch

from tests.models.building import build, sample
from tests.training import trainer


def clipped_gradient(model, batches, clip):
    """The gradient of the loss summed over all words of all batches, its norm cut to ``clip``."""
    total = 0
    for batch in batches:
        log_probabilities = torch.log_softmax(model(**batch["net_input"])[0], dim=2)
        target = batch["target"]
        words = target != 1
        total = total - log_probabilities.gather(2, target.unsqueeze(2)).squeeze(2)[words].sum()
    gradients = torch.autograd.grad(total, list(model.parameters()))
    norm = torch.sqrt(sum((gradient**2).sum() for gradient in gradients))
    assert norm > 2 * clip, "the clipping would not be seen"
    return [gradient * (clip / norm) for gradient in gradients]


@pytest.mark.parametrize("accumulated", [1, 2])
def test_one_step_of_gradient_descent_is_the_one_worked_out_by_hand(accumulated):
    model = build("gru_encoder")
    batches = [sample([4, 1, 6], [5, 2, 7]), sample([2, 3], [4, 4])][:accumulated]
    expected = copy.deepcopy(model)
    gradients = clipped_gradient(expected, batches, clip=1.0)
    flags = ["--optimizer", "sgd", "--lr", "0.5", "--clip-norm", "1", "--update-freq", str(accumulated)]
    trainer(model, "summed_cross_entropy", *flags).train_step(batches)
    for parameter, before, gradient in zip(model.parameters(), expected.parameters(), gradients):
        torch.testing.assert_close(parameter, before - 0.5 * gradient, rtol=1e-4, atol=1e-6)


def test_one_step_of_adadelta_is_the_one_worked_out_by_hand():
    """Zeiler (2012), rho 0.95, eps 1e-6, lr 1: x −= sqrt(0 + eps) / sqrt(0.05 g² + eps) · g at the first step."""
    model = build("gru_encoder")
    batches = [sample([4, 1, 6], [5, 2, 7])]
    expected = copy.deepcopy(model)
    gradients = clipped_gradient(expected, batches, clip=1.0)
    flags = ["--optimizer", "adadelta", "--lr", "1", "--adadelta-rho", "0.95", "--adadelta-eps", "1e-6"]
    trainer(model, "summed_cross_entropy", *flags, "--clip-norm", "1").train_step(batches)
    for parameter, before, gradient in zip(model.parameters(), expected.parameters(), gradients):
        step = gradient * (1e-6**0.5) / torch.sqrt(0.05 * gradient**2 + 1e-6)
        torch.testing.assert_close(parameter, before - step, rtol=1e-4, atol=1e-6)


def test_the_logged_loss_is_per_word():
    batches = [sample([4, 1, 6], [5, 2, 7])]
    flags = ["--optimizer", "sgd", "--lr", "0"]
    logged = [
        trainer(build("gru_encoder"), name, *flags).train_step(batches)["loss"]
        for name in ("summed_cross_entropy", "cross_entropy")
    ]
    assert logged[0] == logged[1]
