"""Keeps fairseq's transformer encoder on its own implementation in processes that only translate.

In evaluation, fairseq 0.12.2 calls ``torch._transformer_encoder_layer_fwd`` with the arguments it had in PyTorch 1.12.
PyTorch 1.13 added one that a padded batch needs, so fairseq-generate stops with "Mask Type should be defined". The
layer has a switch for that path; the repair turns it off.
"""

import functools


def repair(transformer_layer):
    """Make every transformer encoder layer start with ``can_use_fastpath = False``."""
    import torch

    major, minor = torch.__version__.split(".")[:2]
    if (int(major), int(minor)) < (1, 13):
        return
    layer_class = transformer_layer.TransformerEncoderLayerBase
    construct = layer_class.__init__

    @functools.wraps(construct)
    def construct_without_fast_path(self, *args, **kwargs):
        construct(self, *args, **kwargs)
        self.can_use_fastpath = False

    layer_class.__init__ = construct_without_fast_path
