"""Self-attention on either side, through fairseq: search, padding, what it costs, what it refuses."""

import pytest
import torch

from tests.combinations import half
from tests.models.building import build, sample, sources
from tests.models.test_search import assert_search_agrees_with_teacher_forcing, models
from tests.tolerances import INVARIANCE

ENCODER = {"encoder_self_attention_heads": 5}
DECODER = {"decoder_self_attention_heads": 2}
PLACES = {"encoder": ENCODER, "decoder": DECODER, "both": {**ENCODER, **DECODER}}
LENGTHS = [3, 7, 1, 5]


@pytest.mark.parametrize(
    ("place", "attention", "order"), half(list(PLACES), ["none", "additive"], ["attention_first", "word_first"])
)
def test_scores_of_the_search_are_those_of_teacher_forcing_with_self_attention(place, attention, order):
    built = models("gru_encoder", attention, decoder_layers=2, decoder_order=order, **PLACES[place])
    assert_search_agrees_with_teacher_forcing(built, attention=attention != "none")


def test_scores_of_the_search_are_those_of_teacher_forcing_with_self_attention_and_every_part():
    parts = {"gru_rank": 4, "skip_io": True, "skip_time": 3, "decoder_layer_norm": True, "decoder_output_rank": 3}
    built = models("gru_encoder", "additive", count=2, decoder_layers=3, **parts, **PLACES["both"])
    assert_search_agrees_with_teacher_forcing(built, attention=True)


def test_scores_of_the_search_are_those_of_teacher_forcing_with_self_attention_over_phrases():
    pyramid = {"grconv_annotations": "pyramid", "grconv_annotation_height": 2}
    built = models("grconv_encoder", "additive", **pyramid, **PLACES["both"])
    assert_search_agrees_with_teacher_forcing(built, attention=True)


@pytest.mark.parametrize(("architecture", "attention"), [("gru_encoder", "none"), ("grconv_encoder", "additive")])
def test_sources_and_targets_may_be_padded_on_either_side(architecture, attention):
    model = models(architecture, attention, **PLACES["both"])[0]
    previous = sample(LENGTHS, [5, 2, 7, 1])["net_input"]["prev_output_tokens"]
    expected = model(**sources(LENGTHS), prev_output_tokens=previous)[0]
    torch.testing.assert_close(
        model(**sources(LENGTHS, left_pad=False), prev_output_tokens=previous)[0], expected, **INVARIANCE
    )
    pad = model.decoder.dictionary.pad()
    for row, length in enumerate(LENGTHS):
        words = previous[row, previous[row].ne(pad)]
        moved = torch.full_like(previous, pad)
        moved[:, -1] = words[0]  # another sentence beside it, of one word
        moved[row, -len(words) :] = words
        scores = model(**sources(LENGTHS), prev_output_tokens=moved)[0][row, -len(words) :]
        torch.testing.assert_close(scores, expected[row, : len(words)], **INVARIANCE)
        alone = model(
            src_tokens=sources(LENGTHS)["src_tokens"][row : row + 1, -length:],
            src_lengths=torch.tensor([length]),
            prev_output_tokens=words[None],
        )[0][0]
        torch.testing.assert_close(alone, expected[row, : len(words)], **INVARIANCE)


@pytest.mark.parametrize(("attention", "order"), [("none", "attention_first"), ("additive", "word_first")])
def test_a_later_word_changes_no_score_before_it(attention, order):
    model = models("gru_encoder", attention, decoder_order=order, **PLACES["both"])[0]
    batch = sample([4, 6], [6, 6])["net_input"]
    before = model(**batch)[0]
    previous = batch["prev_output_tokens"]
    previous[:, 3] = torch.where(previous[:, 3] == 4, 5, 4)
    after = model(**batch)[0]
    torch.testing.assert_close(after[:, :3], before[:, :3])
    assert ((after[:, 3:] - before[:, 3:]).abs().amax(dim=2) > 1e-4).all()


@pytest.mark.parametrize("architecture", ["gru_encoder", "unet_encoder"])
def test_self_attention_changes_only_what_the_decoder_reads(architecture):
    """With attention the annotations, without it the summary; the other is what the encoder made."""
    tokens = sources(LENGTHS)["src_tokens"]
    for attention, changed in (("additive", "annotations"), ("none", "summary")):
        plain = build(architecture, decoder_attention=attention)
        model = build(architecture, decoder_attention=attention, **ENCODER)
        model.load_state_dict(plain.state_dict(), strict=False)
        before, after = plain.eval().encoder(tokens), model.eval().encoder(tokens)
        for name in ("annotations", "summary"):
            assert torch.equal(getattr(before, name), getattr(after, name)) == (name != changed)


@pytest.mark.parametrize("heads", [0, 5])
def test_a_summary_of_one_direction_goes_with_attention(heads):
    options = {"encoder_bidirectional": True, "encoder_summary": "backward", "encoder_self_attention_heads": heads}
    output = build("gru_encoder", **options).encoder(sources(LENGTHS)["src_tokens"])
    assert output.annotations.size(2) == 10 and output.summary.size(1) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"encoder_self_attention_heads": 4, "encoder_bidirectional": True},
            "4 heads of EncoderSelfAttention must divide its 10 units",
        ),
        (
            {"decoder_self_attention_heads": 3},
            "3 heads of DecoderSelfAttention must divide its 10 units",
        ),
        ({**ENCODER, "initialization": "published"}, "published does not define .* --encoder-self-attention-heads"),
        ({**DECODER, "initialization": "published"}, "published does not define .* --decoder-self-attention-heads"),
    ],
)
def test_heads_that_cannot_be_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        build("gru_encoder", **options)
