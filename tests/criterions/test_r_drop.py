"""R-Drop: two passes with different dropout, compared with the paper's equation word by word."""

import pytest
import torch
from fairseq.models.lstm import LSTMModel, base_architecture

from tests.criterions.test_chunked_cross_entropy import assert_logged_alike, stock_model, validated
from tests.models.building import ARCHITECTURES, build, sample, task
from tests.training import ADAM, parse, trainer
from user_dir import criterions
from user_dir.criterions import RDropCriterion

BATCH = sample([6, 4, 1], [7, 5, 2])


def by_hand(log_probs, smoothing, weight):
    """Wu et al. 2021, equation 4, halved, and the cross-entropy, summed over words: rows 2i and 2i + 1 are a pair."""
    total = cross_entropy = 0.0
    for row, sentence in enumerate(BATCH["target"]):
        for position, word in enumerate(sentence.tolist()):
            if word == 1:
                continue
            p, q = log_probs[2 * row, position], log_probs[2 * row + 1, position]
            other = smoothing / (len(p) - 1)
            for each in (p, q):
                wanted = torch.full_like(each, other)
                wanted[word] = 1 - smoothing
                total -= (wanted * each).sum() / 2
                cross_entropy -= each[word] / 2
            divergence = (p.exp() * (p - q)).sum() + (q.exp() * (q - p)).sum()
            total += weight * divergence / 4
    return total, cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_and_its_gradients_are_the_papers(smoothing, monkeypatch):
    """With all scores at hand, as for models from outside, and without them."""
    model = build("gru_encoder", dropout=0.5).double().train()
    for parameter in model.parameters():
        parameter.data *= 5  # predictions that are not uniform, as before training
    seen = []
    monkeypatch.setattr(model, "get_normalized_probs", keep_what_returns(model.get_normalized_probs, seen))
    criterion = RDropCriterion(task(), sentence_avg=False, label_smoothing=smoothing, r_drop_weight=3.0)
    torch.manual_seed(1)
    chunked = criterion(model, BATCH)
    assert not seen
    monkeypatch.setattr(criterions, "_computes_loss", lambda model: False)
    torch.manual_seed(1)
    whole = criterion(model, BATCH)
    assert (seen[0][0::2] - seen[0][1::2]).abs().max() > 0.01, "both passes drop the same"
    expected, cross_entropy = by_hand(seen[0], smoothing, 3.0)
    assert expected > cross_entropy + 0.1, "the divergence would not be seen"
    parameters = list(model.parameters())
    by_equation = torch.autograd.grad(expected, parameters, retain_graph=True)
    for loss, size, logged in (chunked, whole):
        # Without the scores, all is in double precision; fairseq's probabilities are not.
        torch.testing.assert_close(loss.float(), expected)
        torch.testing.assert_close(logged["nll_loss"].float(), cross_entropy.detach())
        assert size == logged["ntokens"] == BATCH["ntokens"] and logged["nsentences"] == 3
        for ours, manual in zip(torch.autograd.grad(loss, parameters), by_equation, strict=True):
            torch.testing.assert_close(ours, manual, rtol=1e-4, atol=1e-5)


def keep_what_returns(function, seen):
    def kept(*args, **kwargs):
        seen.append(function(*args, **kwargs))
        return seen[-1]

    return kept


@pytest.mark.parametrize("flags", [[], ["--sentence-avg"]])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_without_dropout_an_update_is_that_of_the_cross_entropy(architecture, flags):
    ours, theirs = (build(architecture) for _ in range(2))
    flags = [*flags, "--label-smoothing", "0.1", "--optimizer", "sgd", "--lr", "0.5", "--clip-norm", "1"]
    logged = [
        trainer(model, name, *flags).train_step([BATCH])
        for model, name in ((ours, "r_drop"), (theirs, "label_smoothed_cross_entropy"))
    ]
    assert_logged_alike(*logged)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def lstm():
    config = parse("r_drop", ())
    base_architecture(config)
    return LSTMModel.build_model(config, task())


@pytest.mark.parametrize("stock", [stock_model, lstm])
def test_fairseqs_own_models_are_trained(stock):
    torch.manual_seed(1)
    model = stock()
    training = trainer(model, "r_drop", *ADAM)
    losses = [training.train_step([BATCH])["loss"] for _ in range(40)]
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("smoothing", ["0", "0.2"])
def test_a_validation_is_that_of_the_cross_entropy(smoothing):
    model = build("gru_encoder", dropout=0.5)
    flags = ["--label-smoothing", smoothing]
    ours, theirs = (validated(model, name, *flags) for name in ("r_drop", "chunked_cross_entropy"))
    assert_logged_alike(ours, theirs)


@pytest.mark.parametrize("weight", [-1.0, float("nan")])
def test_a_weight_that_is_none_is_refused(weight):
    with pytest.raises(ValueError, match="--r-drop-weight must be 0 or more, not"):
        RDropCriterion(task(), sentence_avg=False, r_drop_weight=weight)


def test_an_adaptive_softmax_is_not_trained():
    model = build("gru_encoder", adaptive_softmax_cutoff="5,9")
    with pytest.raises(ValueError, match="--adaptive-softmax-cutoff needs --criterion adaptive_loss"):
        RDropCriterion(task(), sentence_avg=False)(model, BATCH)
