"""Each word of a target is in the loss once, and a word that is left out is not counted either."""

from __future__ import annotations

import pytest
import torch
from fairseq.criterions.adaptive_loss import AdaptiveLoss
from fairseq.criterions.cross_entropy import CrossEntropyCriterion
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion

from tests.models.building import build, build_adaptive, sample, task

VOCABULARY = 17
PADDING = 1


def batch_of_all_words():
    """Every word of the vocabulary once, in targets of two lengths, so that there is padding, too."""
    batch = sample([6, 4], [6, 11])
    words = [word for word in range(VOCABULARY) if word != PADDING]
    batch["target"] = torch.tensor([[*words[:5], 2, *[PADDING] * 5], words[5:]])
    return batch


def test_adaptive_loss_is_the_cross_entropy_of_every_word():
    model, batch = build_adaptive(decoder_out_embed_dim=16).eval(), batch_of_all_words()
    ours, theirs = (kind(task(), sentence_avg=False) for kind in (AdaptiveLoss, CrossEntropyCriterion))
    for reduce in (True, False):
        with torch.no_grad():
            loss, size, logged = ours(model, batch, reduce=reduce)
            expected, expected_size, _ = theirs(model, batch, reduce=reduce)
        torch.testing.assert_close(loss.reshape(expected.shape), expected)
        assert size == expected_size == 17 and logged["ntokens"] == 17
    loss, *_ = ours(model, batch)
    loss.backward()
    for tail in model.decoder.adaptive_softmax.tail:
        assert tail[2].weight.grad.abs().sum(1).gt(0).all(), "a word that is not trained"


def test_adaptive_loss_of_another_softmax_is_refused():
    with pytest.raises(ValueError, match="--criterion adaptive_loss needs a model with --adaptive-softmax-cutoff"):
        AdaptiveLoss(task(), sentence_avg=False)(build("gru_encoder"), batch_of_all_words())


def test_words_of_an_ignored_prefix_are_not_counted():
    model, batch = build("gru_encoder").eval(), sample([4, 1, 6], [5, 2, 7])
    whole = LabelSmoothedCrossEntropyCriterion(task(), False, 0.1)
    ignoring = LabelSmoothedCrossEntropyCriterion(task(), False, 0.1, ignore_prefix_size=2)
    with torch.no_grad():
        assert whole(model, batch)[1] == 14
        loss, size, logged = ignoring(model, batch)
        each, _ = ignoring.compute_loss(model, model(**batch["net_input"]), batch, reduce=False)
    assert size == logged["ntokens"] == each.count_nonzero() == 8
    torch.testing.assert_close(loss, each.sum())
