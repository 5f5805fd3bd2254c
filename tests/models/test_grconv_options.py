"""The options of grConv together with fairseq: search, alignments, contradictions."""

import pytest
import torch

from tests.models.building import build, sample, sources, task
from tests.models.test_search import assert_search_agrees_with_teacher_forcing, generate, models
from tests.tolerances import INVARIANCE

PYRAMID = {"grconv_annotations": "pyramid", "grconv_annotation_height": 2}
DILATED = {"grconv_dilated": True, "encoder_hidden_size": 6}
VARIANTS = {
    "whole_pyramid": {"grconv_annotations": "pyramid", "grconv_annotation_height": 40},
    "bounded_pyramid": {**PYRAMID, "grconv_height": 2},
    "dilated": {**DILATED, "grconv_dilated_positions": True, "grconv_dilated_summary": "max"},
    "dilated_own_weights": {**DILATED, "grconv_dilated_weights": 3, "encoder_layer_norm": True, "grconv_height": 2},
}
every_variant = pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)
LENGTHS = [3, 7, 1, 5]


@every_variant
def test_scores_and_attention_of_the_search_are_those_of_teacher_forcing(options):
    assert_search_agrees_with_teacher_forcing(models("grconv_encoder", "additive", **options), attention=True)


@every_variant
def test_a_batch_of_padding_alone_has_annotations_of_zero(options):
    encoder = models("grconv_encoder", "general", **options)[0].encoder
    padding = torch.full((2, 3), task().source_dictionary.pad())
    assert not encoder(padding, torch.zeros(2, dtype=torch.long)).annotations.any()


@every_variant
@pytest.mark.parametrize("left_pad", [True, False], ids=["left", "right"])
def test_attention_is_over_words_on_either_side_of_the_padding(options, left_pad):
    model = models("grconv_encoder", "general", **options)[0]
    previous = sample(LENGTHS, [5] * 4)["net_input"]["prev_output_tokens"]
    batch = sources(LENGTHS, left_pad=left_pad)
    scores, extra = model(**batch, prev_output_tokens=previous)
    weights = extra["attn"][0]
    assert weights.shape == (4, 5, 7)
    torch.testing.assert_close(weights.sum(dim=2), torch.ones(4, 5))
    torch.testing.assert_close(weights[2, :, -1 if left_pad else 0], torch.ones(5))  # the sentence of one word
    for row, length in enumerate(LENGTHS):
        words = slice(7 - length, 7) if left_pad else slice(0, length)
        alone = model(
            src_tokens=batch["src_tokens"][row : row + 1, words],
            src_lengths=torch.tensor([length]),
            prev_output_tokens=previous[row : row + 1],
        )
        torch.testing.assert_close(scores[row], alone[0][0], **INVARIANCE)
        torch.testing.assert_close(weights[row, :, words], alone[1]["attn"][0][0], **INVARIANCE)


def test_the_weight_of_a_phrase_is_spread_over_its_words():
    """Attention made even: n leaves and n − 1 pairs share it, and an inner word has two halves of pairs."""
    model = build("grconv_encoder", grconv_annotations="pyramid", grconv_annotation_height=1).eval()
    torch.nn.init.zeros_(model.decoder.layer.first.attention.score)
    previous = sample([4], [3])["net_input"]["prev_output_tokens"]
    weights = model(**sources([4]), prev_output_tokens=previous)[1]["attn"][0]
    torch.testing.assert_close(weights, torch.tensor([1.5, 2.0, 2.0, 1.5]).div(7).expand(1, 3, 4))


def test_an_ensemble_of_leaves_and_pyramid_agrees_on_what_a_column_is():
    built = models("grconv_encoder", "additive") + models("grconv_encoder", "additive", **PYRAMID)
    for row, beam in enumerate(generate(built, sources(LENGTHS))):
        for hypothesis in beam:
            assert hypothesis["attention"].size(0) == 7
            total = hypothesis["attention"][-LENGTHS[row] :].sum(dim=0)
            torch.testing.assert_close(total, torch.ones_like(total))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grconv_annotation_height": 2}, "--grconv-annotation-height 2 needs --grconv-annotations pyramid"),
        ({"grconv_annotations": "pyramid"}, r"pyramid needs --grconv-annotation-height 1 .* or more, not 0"),
        ({**PYRAMID, "decoder_attention": "none"}, "never reads the pyramid's nodes"),
        ({"grconv_dilated": True}, "half of --encoder-hidden-size, which must be even, not 5"),
        ({**DILATED, "grconv_annotations": "pyramid"}, "pyramid is for .* not work with --grconv-dilated"),
        ({**DILATED, "grconv_activation": "relu"}, "--grconv-activation relu .* not work with --grconv-dilated"),
        ({**DILATED, "initialization": "published"}, "does not define .* values of --grconv-dilated"),
        ({"grconv_dilated_weights": 2}, "--grconv-dilated-weights 2 needs --grconv-dilated"),
        ({"grconv_dilated_positions": True}, "--grconv-dilated-positions needs --grconv-dilated"),
    ],
)
def test_contradictory_options_of_grconv_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        build("grconv_encoder", **options)
