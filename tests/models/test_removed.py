"""Options that are gone: what a checkpoint or command asks of them is refused by name."""

import pytest

from tests.models.building import build


@pytest.mark.parametrize(
    ("architecture", "options", "message"),
    [
        ("gru_encoder", {"decoder_attention_heads": 4}, "--decoder-attention-heads 4 is not in this version any more"),
        ("gru_encoder", {"encoder_cell_layer_norm": True}, "--encoder-cell-layer-norm is not .* 8996ab1 still has it"),
        ("gru_encoder", {"decoder_dropout_out": 0.3}, "--decoder-dropout-out 0.3 is not"),
        ("grconv_encoder", {"grconv_dilated_annotations": "top"}, "--grconv-dilated-annotations top is not"),
        ("grconv_encoder", {"grconv_dilated_biases": 2}, "--grconv-dilated-biases 2 is not"),
        ("vnet_encoder", {"vnet_growth": 2}, "--vnet-growth 2 is not"),
    ],
)
def test_an_option_that_is_gone_is_refused_by_name(architecture, options, message):
    with pytest.raises(ValueError, match=message):
        build(architecture, **options)


def test_as_many_biases_as_matrices_are_what_there_is():
    options = {"grconv_dilated": True, "encoder_hidden_size": 6, "grconv_dilated_weights": 3}
    model = build("grconv_encoder", grconv_dilated_biases=3, **options)
    assert model.encoder.layer.directions[0].bias.size(0) == 3


def test_a_model_of_named_kernels_is_the_same():
    build("gru_encoder", kernel_backend="packed")
