"""fairseq's cross-entropy without all the scores: the same losses, gradients and updates."""

import copy

import pytest
import torch
from fairseq import metrics
from fairseq.criterions.cross_entropy import CrossEntropyCriterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion

from tests.models.building import build, build_adaptive, sample, task
from tests.training import trainer
from user_dir.criterions import ChunkedCrossEntropyCriterion
from user_dir.models.model import Decoder

#: Sorted, as fairseq's lstm needs it.
BATCH = sample([6, 4, 1], [7, 5, 2])
OUTPUTS = {
    "plain": {},
    "tied": {"decoder_out_embed_dim": 8, "share_decoder_input_output_embed": True},
    "low rank": {"decoder_output_rank": 3},
    "low rank, tied": {"decoder_embed_dim": 6, "decoder_output_rank": 6, "share_decoder_input_output_embed": True},
}


def loss_and_gradients(criterion, model, smoothing, **options):
    smoothed = {} if smoothing is None else {"label_smoothing": smoothing}
    loss, size, logged = criterion(task(), sentence_avg=False, **smoothed)(model, BATCH, **options)
    return loss, torch.autograd.grad(loss.sum(), list(model.parameters())), size, logged


def assert_same(model, smoothing=None, **options):
    fairseqs = CrossEntropyCriterion if smoothing is None else LabelSmoothedCrossEntropyCriterion
    theirs = loss_and_gradients(fairseqs, model, smoothing, **options)
    ours = loss_and_gradients(ChunkedCrossEntropyCriterion, model, smoothing, **options)
    # fairseq's loss is in single precision, whatever the model is in.
    torch.testing.assert_close(ours[0].float(), theirs[0].float())
    for a, b in zip(ours[1], theirs[1]):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
    assert ours[2] == theirs[2] and ours[3].keys() == theirs[3].keys()
    for name, number in theirs[3].items():
        torch.testing.assert_close(torch.as_tensor(ours[3][name]).float(), torch.as_tensor(number).float(), msg=name)


with_and_without_smoothing = pytest.mark.parametrize("smoothing", [None, 0.1])


@pytest.mark.parametrize("architecture", ["gru_encoder", "grconv_encoder"])
@with_and_without_smoothing
def test_the_chunked_loss_and_its_gradients_are_fairseqs(architecture, smoothing):
    # Double, as fairseq's own gradients of so small a model are off by more than the tolerance in single precision.
    assert_same(build(architecture).double().eval(), smoothing)


@with_and_without_smoothing
@pytest.mark.parametrize("output", OUTPUTS)
def test_the_chunked_loss_works_with_every_output_layer(output, smoothing):
    assert_same(build("gru_encoder", **OUTPUTS[output]).eval(), smoothing)


@with_and_without_smoothing
def test_the_chunked_loss_of_each_word_is_fairseqs(smoothing):
    assert_same(build("gru_encoder").eval(), smoothing, reduce=False)


@with_and_without_smoothing
def test_fairseqs_own_models_are_trained_as_usual(smoothing):
    stock = build_adaptive(criterion="cross_entropy", adaptive_softmax_cutoff=None)
    assert not isinstance(stock.decoder, Decoder)
    assert_same(stock.eval(), smoothing)


def test_the_chunked_loss_makes_no_scores(monkeypatch):
    model = build("gru_encoder")
    monkeypatch.setattr(model.decoder, "output_layer", lambda features: pytest.fail("all scores at once"))
    for smoothing in (0.0, 0.1):
        loss_and_gradients(ChunkedCrossEntropyCriterion, model, smoothing)
    with pytest.raises(pytest.fail.Exception):
        loss_and_gradients(CrossEntropyCriterion, model, None)


def validated(model, name, *flags):
    """What fairseq's trainer logs of a validation on the batch."""
    with metrics.aggregate() as logged:
        trainer(model, name, *flags).valid_step(BATCH)
    return logged.get_smoothed_values()


@pytest.mark.parametrize("name", ["chunked_cross_entropy", "summed_cross_entropy"])
def test_a_validation_logs_what_fairseqs_criterions_log(name):
    """With smoothing, ``nll_loss`` is the loss without it, per word and in bits, and the perplexity is that of it."""
    model = build("gru_encoder").eval()
    assert_logged_alike(validated(model, name), validated(model, "cross_entropy"))
    smoothing = ["--label-smoothing", "0.5"]
    ours = validated(model, name, *smoothing)
    assert_logged_alike(ours, validated(model, "label_smoothed_cross_entropy", *smoothing))
    assert ours["nll_loss"] == pytest.approx(validated(model, name)["loss"]) != ours["loss"]


def assert_logged_alike(ours, theirs):
    names = {"loss", "nll_loss", "ppl"}
    assert ours.keys() & names == theirs.keys() & names
    assert all(ours[name] == pytest.approx(theirs[name], abs=2e-3) for name in ours.keys() & names)


@pytest.mark.parametrize("flags", [[], ["--bf16"]])
def test_an_update_of_fairseqs_trainer_with_the_chunked_loss_is_the_same(flags):
    ours, theirs = (build("gru_encoder", dropout=0.0) for _ in range(2))
    before = copy.deepcopy(ours.state_dict())
    for model, name in ((ours, "chunked_cross_entropy"), (theirs, "cross_entropy")):
        trainer(model, name, "--optimizer", "sgd", "--lr", "0.5", "--clip-norm", "1", *flags).train_step([BATCH])
    tolerance = 0.02 if flags else 1e-5
    for name, a in ours.state_dict().items():
        moved = theirs.state_dict()[name].float() - before[name].float()
        difference = (a.float() - theirs.state_dict()[name].float()).norm()
        assert difference <= tolerance * moved.norm() + 1e-7, name
