"""Dropout of words and of recurrent matrices, and dropout in translation, as fairseq's --retain-dropout asks for it."""

import copy

import pytest
import torch
from fairseq.dataclass.configs import FairseqConfig

from recurrent_mt.layers.dropout import Dropout, EmbeddingDropout
from recurrent_mt.layers.gru import GRU
from recurrent_mt.layers.gru_cell import GRUVariant
from tests.kernels.batches import needs_native, within
from tests.models.building import ARCHITECTURES, build, sample
from user_dir.models.config import EncoderDecoderConfig


def prepared(architecture, *, retain, modules=None, **options):
    """A model as fairseq-generate prepares it."""
    model = build(architecture, **{"dropout": 0.5, **options})
    config = copy.deepcopy(FairseqConfig())  # its parts are those of all
    config.generation.retain_dropout, config.generation.retain_dropout_modules = retain, modules
    model.prepare_for_inference_(config)
    model.eval()
    return model


def scores(model):
    with torch.no_grad():
        return model(**sample([5, 3], [4, 2])["net_input"])[0]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_retained_dropout_makes_two_passes_differ(architecture):
    model = prepared(architecture, retain=True)
    assert not torch.equal(scores(model), scores(model))


def test_without_retained_dropout_two_passes_are_equal():
    model = prepared("gru_encoder", retain=False)
    assert torch.equal(scores(model), scores(model))


@pytest.mark.parametrize("names", ["Encoder, GRUDecoder", ["Encoder", "GRUDecoder"]])
def test_modules_are_named_with_commas_or_in_a_list(names):
    model = prepared("gru_encoder", retain=True, modules=names)
    kept = {module.owner for module in model.modules() if isinstance(module, Dropout) and module.retained}
    assert kept == {"Encoder", "GRUDecoder"}


def test_retained_dropout_reaches_every_place_that_drops_units():
    options = {"encoder_layers": 2, "decoder_layers": 2, "encoder_hidden_size": 6}
    model = prepared(
        "gru_encoder", retain=True, encoder_self_attention_heads=2, decoder_self_attention_heads=2, **options
    )
    places = [module for name, module in model.named_modules() if "dropout" in name.rsplit(".", 1)[-1]]
    assert len(places) == 12 and all(place.retained for place in places)


@pytest.mark.parametrize("order", ["word_first", "attention_first"])
def test_retained_dropout_of_words_is_drawn_for_each_hypothesis(order):
    """A step of a search embeds each distinct word once where nothing is drawn."""
    options = {"dropout": 0.0, "word_dropout": 0.5}
    model = prepared("gru_encoder", retain=True, modules=["Decoder"], decoder_order=order, **options)
    with torch.no_grad():
        source = model.encoder(torch.tensor([[4, 5, 2]] * 12))
        state = {}
        model.decoder(torch.tensor([[2]] * 12), source, incremental_state=state)
        scores, _ = model.decoder(torch.tensor([[2, 6]] * 12), source, incremental_state=state)
    assert len(scores[:, 0].unique(dim=0)) > 1


def test_word_dropout_takes_or_leaves_a_whole_embedding_and_scales_what_it_leaves():
    torch.manual_seed(1)
    dropped = EmbeddingDropout(0.0, words=0.25, owner="Test")(torch.ones(40, 50, 6))
    assert torch.equal(dropped, dropped[:, :, :1].expand_as(dropped))
    assert dropped.unique().tolist() == [0.0, pytest.approx(1 / 0.75)]
    assert dropped[:, :, 0].eq(0).double().mean().item() == pytest.approx(0.25, abs=0.04)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_a_word_that_is_dropped_gives_its_embedding_no_gradient(side):
    model = build("gru_encoder", word_dropout=1.0)
    model.train()
    model(**sample([5, 3], [4, 2])["net_input"])[0].sum().backward()
    assert getattr(model, side).embed_tokens.weight.grad.abs().max() == 0


@pytest.mark.parametrize("backend", ["reference", "packed", pytest.param("native", marks=needs_native)])
def test_recurrent_dropout_drops_numbers_of_the_recurrent_matrices_for_all_steps_of_a_batch(backend):
    torch.manual_seed(2)
    layer = GRU(3, 4, variant=GRUVariant(recurrent_dropout=0.5)).double()
    layer.forward = within(backend, layer.forward)
    rows, initial, counts = torch.randn(7, 3).double(), torch.randn(3, 4).double(), (3, 2, 2)
    torch.manual_seed(5)
    dropped = layer(rows, initial, counts)
    torch.manual_seed(5)
    gate, candidate = (weight.detach() for weight in layer.recurrent_weights())
    assert {0.0, 2.0} == set((gate / layer.gate_weight).unique().tolist())
    layer.eval()
    whole = layer(rows, initial, counts)
    with torch.no_grad():
        layer.gate_weight.copy_(gate)
        layer.candidate_weight.copy_(candidate)
    assert not torch.allclose(dropped, whole)
    assert torch.equal(layer(rows, initial, counts), dropped)


def test_retained_recurrent_dropout_differs_from_step_to_step_of_a_search_as_the_help_says():
    model = prepared("gru_encoder", retain=True, modules=["GRU"], recurrent_dropout=0.5)
    source = model.encoder(sample([5, 3], [4, 2])["net_input"]["src_tokens"])
    words, layer = model.decoder.embed_tokens(torch.tensor([4, 5])), model.decoder.layer
    start = layer.start(source)._replace(context=torch.zeros(2, source.annotations.size(2)))
    first, second = (layer.step(words, source, start)[0] for _ in range(2))
    assert not torch.equal(first, second)
    assert "at each step" in EncoderDecoderConfig.__dataclass_fields__["recurrent_dropout"].metadata["help"]


def test_recurrent_dropout_and_low_rank_exclude_each_other():
    with pytest.raises(ValueError, match=r"--recurrent-dropout .* --gru-rank"):
        build("gru_encoder", recurrent_dropout=0.5, gru_rank=2)
