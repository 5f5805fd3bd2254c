"""The list among the options of ``sepconv_encoder``."""

import pytest

from tests.models.building import build


def test_widths_reach_the_layer_in_their_order():
    layer = build("sepconv_encoder", sepconv_kernels="3,5,7").encoder.layer
    convolutions = [step.convolution for step in layer.modules_of_steps[0].steps]
    assert len(layer.modules_of_steps) == 2
    assert [convolution.depthwise.convolution.kernel_size for convolution in convolutions] == [(3,), (5,), (7,)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sepconv_kernels": "3,x"}, "--sepconv-kernels must be whole numbers separated by commas, not '3,x'"),
        ({"sepconv_kernels": "3,4"}, "width of a convolution must be a positive odd number, not 4"),
    ],
)
def test_widths_that_cannot_be_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        build("sepconv_encoder", **options)
