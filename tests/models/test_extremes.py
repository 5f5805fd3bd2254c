"""Sentences of 1 and of 1,024 tokens, nothing but padding, padding among the words, no sentence, five words in all."""

import pytest
from fairseq.criterions.cross_entropy import CrossEntropyCriterion
from fairseq.sequence_generator import SequenceGenerator

from tests.models.building import ARCHITECTURES, ENCODERS_WITH_ATTENTION, build, sample, sources, task

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
with_and_without_attention = pytest.mark.parametrize(("architecture", "attention"), ENCODERS_WITH_ATTENTION)


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


@with_and_without_attention
def test_one_token_and_nothing_but_padding(architecture, attention):
    model = model_for(architecture, attention)
    assert train(model, batch_of([1], [1])) > 0
    assert len(search(model, sources([1], words=WORDS))) == 1
    batch = batch_of([3, 2], [2, 3])
    batch["net_input"]["src_tokens"].fill_(task().source_dictionary.pad())
    assert train(model, batch) > 0
    found = search(model, {key: batch["net_input"][key] for key in ("src_tokens", "src_lengths")})
    assert len(found) == 2
    half_empty = batch_of([3, 2], [2, 3])
    half_empty["net_input"]["src_tokens"][1] = task().source_dictionary.pad()
    assert train(model, half_empty) > 0


@every_architecture
def test_a_batch_of_empty_lines_gives_every_parameter_a_gradient(architecture):
    """Where several processes train, the others wait for each gradient."""
    model = model_for(architecture, "additive")
    train(model, batch_of([1, 1], [3, 2]))
    assert [name for name, parameter in model.named_parameters() if parameter.grad is None] == []


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"decoder_attention": "none", "decoder_layers": 2, "skip_time": 2},
        {"decoder_layers": 2, "decoder_self_attention_heads": 2, "decoder_order": "attention_first"},
        {"decoder_transition_depth": 2, "decoder_layer_norm": True, "skip_io": True},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_a_batch_of_empty_translations_gives_every_parameter_a_gradient(options):
    model = build("gru_encoder", task(source_words=WORDS, target_words=WORDS), **{**SIZES, **options})
    train(model, batch_of([3, 2], [1, 1]))
    assert [name for name, parameter in model.named_parameters() if parameter.grad is None] == []


@with_and_without_attention
def test_a_padding_symbol_among_the_words_changes_its_own_sentence_alone(architecture, attention):
    model = model_for(architecture, attention)
    batch, plain = batch_of([4, 3], [4, 4]), batch_of([4, 3], [4, 4])
    symbol = task().source_dictionary.pad()
    batch["net_input"]["src_tokens"][0, 1] = symbol
    batch["net_input"]["prev_output_tokens"][0, 2] = batch["target"][0, 1] = symbol
    assert train(model, batch) > 0
    model.eval()
    with_symbol, without = model(**batch["net_input"])[0], model(**plain["net_input"])[0]
    assert not with_symbol[0].allclose(without[0]) and with_symbol[0].isfinite().all()
    assert with_symbol[1].equal(without[1])
    found = search(model, {key: batch["net_input"][key] for key in ("src_tokens", "src_lengths")})
    assert len(found) == 2


@with_and_without_attention
def test_a_batch_without_sentences_has_scores_and_a_loss_of_nothing(architecture, attention):
    """fairseq's search does not take one, and its batches never are: a worker without work gets a dummy batch."""
    batch = batch_of([3, 2], [2, 3])
    empty = {**batch, "target": batch["target"][:0], "net_input": {k: v[:0] for k, v in batch["net_input"].items()}}
    model = model_for(architecture, attention)
    assert train(model, empty) == 0
    assert model(**empty["net_input"])[0].shape == (0, 3, WORDS + 4)


@every_architecture
def test_a_source_of_1024_tokens(architecture):
    model = model_for(architecture, "additive")
    assert train(model, batch_of([1024, 1], [3, 1])) > 0
