"""Keeps fairseq's transformer encoder on its own implementation in processes that only translate.

In evaluation, fairseq 0.12.2 calls ``torch._transformer_encoder_layer_fwd`` with the arguments it had in PyTorch 1.12.
PyTorch 1.13 added one that a padded batch needs, so fairseq-generate stops with "Mask Type should be defined". The
layer has a switch for that path; the repair turns it off.
"""

from .replacements import around


@around("fairseq.modules.transformer_layer", "TransformerEncoderLayerBase.__init__")
def construct_without_fast_path(construct, self, *args, **kwargs):
    """Make every transformer encoder layer start with ``can_use_fastpath = False``."""
    construct(self, *args, **kwargs)
    self.can_use_fastpath = False
