"""Dropout in translation, as fairseq's --retain-dropout asks for it."""

import pytest
import torch
from fairseq.dataclass.configs import FairseqConfig

from tests.models.building import ARCHITECTURES, build, sample


def prepared(architecture, *, retain, modules=None, **options):
    """A model as fairseq-generate prepares it."""
    model = build(architecture, dropout=0.5, **options)
    config = FairseqConfig()
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


def test_retained_dropout_reaches_the_named_modules_alone():
    model = prepared("gru_encoder", retain=True, modules=["Encoder"])
    assert model.encoder.dropout_in.retained and not model.decoder.dropout_in.retained
    batch = sample([5, 3], [4, 2])["net_input"]
    first, second = (model.encoder(batch["src_tokens"]).annotations for _ in range(2))
    assert not torch.equal(first, second)


def test_retained_dropout_reaches_every_place_that_drops_units():
    options = {"encoder_layers": 2, "decoder_layers": 2, "encoder_hidden_size": 6}
    model = prepared(
        "gru_encoder", retain=True, encoder_self_attention_heads=2, decoder_self_attention_heads=2, **options
    )
    places = [module for name, module in model.named_modules() if "dropout" in name.rsplit(".", 1)[-1]]
    assert len(places) == 8 and all(place.retained for place in places)
