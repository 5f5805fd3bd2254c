"""--encoder-layer-norm, of annotations and summary: for every encoder but the GRUs, whose layers have their own."""

import pytest
import torch
from torch.nn.functional import layer_norm

from tests.models.building import ARCHITECTURES, MODELS, build, sources
from tests.tolerances import INVARIANCE

NORMALIZED = {name: (name, {}) for name in ARCHITECTURES if not MODELS[name].normalizes_layers}
NORMALIZED |= {
    "dilated": ("grconv_encoder", {"grconv_dilated": True, "encoder_hidden_size": 6}),
    "pyramid": ("grconv_encoder", {"grconv_annotations": "pyramid", "grconv_annotation_height": 2}),
}


def pair(architecture, **options):
    """The encoder with norms whose gains and biases are drawn, and the same without norms."""
    plain, model = (build(architecture, encoder_layer_norm=on, **options).eval() for on in (False, True))
    model.load_state_dict(plain.state_dict(), strict=False)
    torch.nn.init.normal_(model.encoder.norm.weight)
    torch.nn.init.normal_(model.encoder.norm.bias)
    return plain.encoder, model.encoder


@pytest.mark.parametrize(("architecture", "options"), NORMALIZED.values(), ids=NORMALIZED)
def test_annotations_and_summary_are_normalized_and_padding_stays_zero(architecture, options):
    plain, encoder = pair(architecture, **options)
    batch = sources([3, 7, 1, 5], left_pad=architecture == "unet_encoder")
    before, after = plain(**batch), encoder(**batch)
    norm = encoder.norm
    for name in ("annotations", "summary"):
        expected = layer_norm(getattr(before, name), norm.normalized_shape, norm.weight, norm.bias)
        if name == "annotations":
            expected[before.padding_mask] = 0
        torch.testing.assert_close(getattr(after, name), expected, **INVARIANCE)
    assert after.coverage is before.coverage or torch.equal(after.coverage, before.coverage)


def test_the_gru_has_the_norms_of_its_layers_alone():
    assert build("gru_encoder", encoder_layer_norm=True).encoder.norm is None


def test_older_checkpoints_of_a_dilated_grconv_have_the_norm_in_the_layer():
    """At the same place among the parameters: an optimizer's state is found by that."""
    options = {"grconv_dilated": True, "encoder_hidden_size": 6, "encoder_layer_norm": True}
    model = build("grconv_encoder", **options)
    torch.nn.init.normal_(model.encoder.norm.weight)
    names = [name for name, _ in model.encoder.named_parameters()]
    assert names[-2:] == ["norm.weight", "norm.bias"] and names[-3].startswith("layer.directions.1.")
    former = {name.replace("encoder.norm.", "encoder.layer.norm."): value for name, value in model.state_dict().items()}
    assert "encoder.layer.norm.weight" in former
    loaded = build("grconv_encoder", **options)
    loaded.load_state_dict(former, strict=True)
    for name, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value), name


def test_the_papers_start_without_a_norm():
    with pytest.raises(ValueError, match="published does not define the starting values of --encoder-layer-norm"):
        build("grconv_encoder", encoder_layer_norm=True, initialization="published")
