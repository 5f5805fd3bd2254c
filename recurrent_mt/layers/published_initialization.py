"""The starting values of Cho et al. (2014) and Bahdanau et al. (2015)."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from .attention import Attention
from .grconv import GRConvEncoder
from .gru import GRU


def initialize_as_published_(module: nn.Module, *, spectral_radius: float = 1.0) -> None:
    """Redraws all weights of a module, in place.

    Recurrent matrices, and those between the levels of grConv, are the left singular vectors of a Gaussian matrix times
    the spectral radius; the alignment model's matrices are N(0, 0.001²), and its vector v_a is zero; all other weights
    are N(0, 0.01²); all biases are zero. Bahdanau et al. (2015), B.1; Cho et al. (2014a), section 4.1; for the radius,
    the ``scale`` of ``sample_weights_orth`` in the authors' released code. Gains of layer norms and slopes of PReLUs,
    which those models do not have, start as usual: at zero, they would cut off their layers.

    Args:
        module: anything made of this package's layers, linear layers, and embeddings, with whole matrices.
        spectral_radius: the recurrent matrices'.
    """
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() == 1:
                parameter.zero_()
            else:
                nn.init.normal_(parameter, std=0.01)
        for part in module.modules():
            if isinstance(part, (nn.LayerNorm, nn.PReLU)):
                part.reset_parameters()
            if isinstance(part, nn.Embedding) and part.padding_idx is not None:
                part.weight[part.padding_idx].zero_()
            for weight in _recurrent_weights(part):
                for block in weight.split(weight.size(1)):
                    block.copy_(spectral_radius * torch.linalg.svd(torch.randn(block.shape)).U)
            for weight in _alignment_weights(part):
                nn.init.normal_(weight, std=0.001)


def _alignment_weights(part: nn.Module) -> list[Tensor]:
    if not isinstance(part, Attention):
        return []
    weights = [part.query_weight, None if part.key is None else part.key.weight]
    return [weight for weight in weights if weight is not None]


def _recurrent_weights(part: nn.Module) -> list[Tensor]:
    if isinstance(part, GRConvEncoder):
        return [part.left, part.right]
    return [cast(Tensor, part.gate_weight), cast(Tensor, part.candidate_weight)] if isinstance(part, GRU) else []
