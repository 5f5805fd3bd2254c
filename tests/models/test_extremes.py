"""Sentences of 1 and of 1,024 tokens, nothing but padding, no sentence at all, a vocabulary of five words."""

import pytest
from fairseq.criterions.cross_entropy import CrossEntropyCriterion
from fairseq.sequence_generator import SequenceGenerator

from tests.models.building import ARCHITECTURES, ATTENTION_NAMES, build, sample, sources, task

WORDS = 5
#: Small enough for the 524,800 nodes that grConv has over 1,024 leaves.
SIZES = {
    "encoder_embed_dim": 3,
    "encoder_hidden_size": 4,
    "decoder_embed_dim": 3,
    "decoder_hidden_size": 4,
    "decoder_out_embed_dim": 3,
}
every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)
every_attention = pytest.mark.parametrize("attention", ATTENTION_NAMES)


def model_for(architecture, attention):
    return build(architecture, task(source_words=WORDS, target_words=WORDS), decoder_attention=attention, **SIZES)


def batch_of(lengths, target_lengths):
    batch = sample(lengths, target_lengths, words=WORDS)
    return {**batch, "net_input": {**batch["net_input"], **sources(lengths, words=WORDS)}}


def train(model, batch):
    """One update; every gradient must be a number."""
    loss, _, _ = CrossEntropyCriterion(task(), sentence_avg=False)(model, batch)
    loss.backward()
    assert loss.isfinite()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
    return loss.item()


def search(model, net_input):
    """The best translations; every score must be a number."""
    generator = SequenceGenerator([model.eval()], task(target_words=WORDS).target_dictionary, beam_size=2, max_len_b=4)
    found = generator.generate([model], {"net_input": net_input})
    assert all(beam and beam[0]["positional_scores"].isfinite().all() for beam in found)
    return found


@every_attention
@every_architecture
def test_one_token_and_nothing_but_padding(architecture, attention):
    model = model_for(architecture, attention)
    assert train(model, batch_of([1], [1])) > 0
    assert len(search(model, sources([1], words=WORDS))) == 1
    batch = batch_of([3, 2], [2, 3])
    batch["net_input"]["src_tokens"].fill_(task().source_dictionary.pad())
    assert train(model, batch) > 0
    found = search(model, {key: batch["net_input"][key] for key in ("src_tokens", "src_lengths")})
    assert len(found) == 2


@every_attention
@every_architecture
def test_an_empty_batch_has_empty_scores_and_zero_loss(architecture, attention):
    """fairseq's search does not accept one, and its batches are never empty: a worker without work gets a dummy
    batch."""
    batch = batch_of([3, 2], [2, 3])
    empty = {**batch, "target": batch["target"][:0], "net_input": {k: v[:0] for k, v in batch["net_input"].items()}}
    model = model_for(architecture, attention)
    assert train(model, empty) == 0
    assert model(**empty["net_input"])[0].shape == (0, 3, WORDS + 4)


@every_architecture
def test_a_source_of_1024_tokens(architecture):
    model = model_for(architecture, "additive")
    assert train(model, batch_of([1024, 1], [3, 1])) > 0


@pytest.mark.slow
@every_attention
@every_architecture
def test_1024_tokens_on_both_sides(architecture, attention):
    model = model_for(architecture, attention)
    assert train(model, batch_of([1024, 1], [1, 1024])) > 0
    assert len(search(model, sources([1024, 1], words=WORDS))) == 2
