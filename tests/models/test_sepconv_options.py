"""The lists among the options of ``sepconv_encoder``."""

import pytest

from tests.models.building import build


def test_lists_reach_the_layer_in_their_order():
    layer = build("sepconv_encoder", encoder_hidden_size=6, sepconv_kernels="3,5,7", sepconv_groups="2,3").encoder.layer
    convolutions = [step.convolution for step in layer.modules_of_steps[0].steps]
    assert len(layer.modules_of_steps) == 2
    assert [convolution.depthwise.convolution.kernel_size for convolution in convolutions] == [(3,), (5,), (7,)]
    assert [convolution.pointwise.convolution.groups for convolution in convolutions] == [2, 3, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sepconv_kernels": "3,x"}, "--sepconv-kernels must be whole numbers separated by commas, not '3,x'"),
        ({"sepconv_kernels": ""}, "--sepconv-kernels must be whole numbers separated by commas, not ''"),
        ({"sepconv_groups": "2.5"}, "--sepconv-groups must be whole numbers separated by commas, not '2.5'"),
        ({"sepconv_kernels": "3,4"}, "width of a convolution must be a positive odd number, not 4"),
        ({"sepconv_groups": "2"}, "2 groups do not divide the 5 channels"),
        ({"sepconv_groups": "5", "sepconv_ordinary": True}, "groups 5 are for separable convolutions"),
        ({"encoder_layers": 0}, "--encoder-layers must be at least 1, not 0"),
    ],
)
def test_lists_that_cannot_be_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        build("sepconv_encoder", **options)
