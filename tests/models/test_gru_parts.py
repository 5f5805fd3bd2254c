"""The options of the GRU layers: what they cost, do, and refuse, and checkpoints older than they are."""

import pytest
import torch

from tests.combinations import half
from tests.models.building import SIZES, build, sample
from tests.models.test_search import assert_search_agrees_with_teacher_forcing, models

EMBED, HIDDEN = SIZES["encoder_embed_dim"], SIZES["encoder_hidden_size"]
TARGET, DECODER = SIZES["decoder_embed_dim"], SIZES["decoder_hidden_size"]

#: Two decoder layers, two bidirectional encoder layers: every width that a layer may read.
DEEP = {"encoder_layers": 2, "encoder_bidirectional": True, "decoder_layers": 2}

#: (width of the input, units) of each GRU layer of that model.
LAYERS = [(EMBED, HIDDEN)] * 2 + [(2 * HIDDEN, HIDDEN)] * 2 + [(TARGET, DECODER), (DECODER, DECODER)]

PARTS = {
    "gru_rank": {"gru_rank": 3},
    "skip_io": {"skip_io": True},
    "skip_time": {"skip_time": 3},
    "decoder_layer_norm": {"decoder_layer_norm": True},
    "decoder_transition_depth": {"decoder_transition_depth": 3},
    "all": {"gru_rank": 4, "skip_io": True, "skip_time": 2, "decoder_layer_norm": True, "decoder_transition_depth": 2},
}


def parameters(**options):
    return sum(parameter.numel() for parameter in build("gru_encoder", **DEEP, **options).parameters())


def change_by_rank(rank):
    """How many numbers a product of this inner size has more than the matrix in whose place it stands."""
    shapes = [shape for e, h in LAYERS for shape in ((3 * h, e), (2 * h, h), (h, h))] + [(3 * DECODER, 2 * HIDDEN)]
    return sum(min(rank, m, k) * (m + k) - m * k for m, k in shapes)


@pytest.mark.parametrize(
    ("options", "change"),
    [
        ({"gru_rank": 7}, change_by_rank(7)),
        ({"skip_io": True}, sum(e * h for e, h in LAYERS if e != h)),
        ({"skip_time": 4}, sum(h for _, h in LAYERS)),
        ({"encoder_layer_norm": True}, 4 * 2 * HIDDEN),
        ({"decoder_layer_norm": True}, 2 * 2 * DECODER),
        ({"encoder_transition_depth": 3}, 4 * 2 * (3 * HIDDEN * HIDDEN + 3 * HIDDEN)),
        ({"decoder_transition_depth": 2}, 2 * (3 * DECODER * DECODER + 3 * DECODER)),
    ],
)
def test_each_part_costs_the_parameters_of_its_formula(options, change):
    assert parameters(**options) - parameters() == change


@pytest.mark.parametrize(
    ("part", "attention", "order"), half(list(PARTS), ["none", "additive"], ["attention_first", "word_first"])
)
def test_scores_of_the_search_are_those_of_teacher_forcing_with_each_part(part, attention, order):
    built = models("gru_encoder", attention, decoder_layers=2, decoder_order=order, **PARTS[part])
    assert_search_agrees_with_teacher_forcing(built, attention=attention != "none")


#: Parts whose time steps no kernel knows.
WITHOUT_KERNELS = {
    "transition": {"encoder_transition_depth": 2, "decoder_transition_depth": 3},
    "skip_in_time": {"skip_time": 2},
}


@pytest.mark.parametrize(("part", "number"), list(zip(WITHOUT_KERNELS, (torch.bfloat16, torch.float16))))
def test_a_part_without_kernels_narrows_products_alone_under_autocast(part, number):
    model = build("gru_encoder", **WITHOUT_KERNELS[part])
    batch = sample([4, 1, 6], [5, 2, 7])["net_input"]
    expected = model(**batch)[0]
    with torch.autocast("cpu", dtype=number):
        found = model(**batch)[0]
        states = model.encoder.layer(torch.ones(1, 2, EMBED), torch.zeros(1, 2, dtype=torch.bool)).annotations
        found.float().sum().backward()
    assert states.dtype is torch.float32 and not torch.equal(found.float(), expected)
    assert (found.float() - expected).abs().max() < 0.05
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def scores(model):
    return model.eval()(**sample([4, 1, 6], [5, 2, 7])["net_input"])[0]


def test_a_skip_in_time_that_is_shut_changes_nothing():
    plain = build("gru_encoder", **DEEP)
    torch.manual_seed(1)
    for parameter in plain.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    expected = scores(plain)
    skip = build("gru_encoder", **DEEP, skip_time=2)
    missing, unexpected = skip.load_state_dict(plain.state_dict(), strict=False)
    assert not unexpected and {name.rsplit(".", 2)[1] for name in missing} == {"time_skip"}
    assert (scores(skip) - expected).abs().max() > 1e-4
    for name, parameter in skip.named_parameters():
        if "time_skip" in name:
            torch.nn.init.constant_(parameter, 30.0)
    torch.testing.assert_close(scores(skip), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("option", ["skip_io", "encoder_layer_norm"])
def test_the_state_carried_through_time_is_bare(option):
    """What is added or normalized only goes up, so it can be computed from the plain model's states afterward."""
    plain = build("gru_encoder", encoder_hidden_size=EMBED)
    other = build("gru_encoder", encoder_hidden_size=EMBED, **{option: True})
    other.load_state_dict(plain.state_dict(), strict=False)
    tokens = sample([4, 2], [3, 3])["net_input"]["src_tokens"]
    encoded = plain.encoder(tokens)
    states, padding_mask = encoded.annotations, encoded.padding_mask
    if option == "skip_io":
        expected = states + plain.encoder.embed_tokens(tokens)
    else:
        expected = torch.nn.functional.layer_norm(states, (EMBED,))
    torch.testing.assert_close(other.encoder(tokens).annotations[~padding_mask], expected[~padding_mask])


def test_starting_values_that_are_not_published_are_refused_by_name():
    with pytest.raises(ValueError, match=r"published does not define .* --gru-rank: use"):
        build("gru_encoder", initialization="published", gru_rank=2)


def test_published_initialization_works_with_a_skip_from_input_to_output():
    model = build("gru_encoder", initialization="published", skip_io=True)
    weight = model.decoder.layer.first.gru.output.skip.projection.weight
    assert 0 < weight.std() < 0.02
