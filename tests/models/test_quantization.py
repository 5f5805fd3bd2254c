"""PyTorch's dynamic quantization of the linear layers."""

import warnings

import pytest
import torch
from torch import nn

from tests.models.building import ARCHITECTURES, build, sample


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_quantized_model_scores_nearly_the_same(architecture):
    model = build(architecture).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch.ao.quantization gives way to torchao
        quantized = torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    assert "DynamicQuantizedLinear" in str(quantized.decoder)
    batch = sample([5, 3], [4, 2])["net_input"]
    with torch.no_grad():
        expected, scores = model(**batch)[0], quantized(**batch)[0]
    assert (scores - expected).norm() < 0.05 * expected.norm()
