"""Options that models no longer have, so that checkpoints and commands that need one are refused by its name.

fairseq drops from a checkpoint's options those that a model does not define, without a word, and would then load
another model than was trained. So they stay defined, out of sight, at the value that means that they are off. What each
one gave, and why it went, is in docs/log/removed.md.
"""

import argparse
from dataclasses import dataclass, field, fields
from typing import Any, Optional

from fairseq.dataclass import FairseqDataclass

LAST_COMMIT = "8996ab1"
"""The last commit that has all of them."""


def removed(off: Any, *, decides: str | None = "function") -> Any:
    """A field that ``--help`` does not show, with the value that older checkpoints have where the option was off."""
    return field(default=off, metadata={"help": argparse.SUPPRESS, "removed": True, "decides": decides})


@dataclass
class RemovedOptions(FairseqDataclass):
    """What they were called, and their values when off."""

    adaptive_softmax_cutoff: Optional[str] = removed(None)
    decoder_attention_heads: int = removed(1)
    decoder_cell_layer_norm: bool = removed(False)
    encoder_cell_layer_norm: bool = removed(False)
    encoder_dropout_in: Optional[float] = removed(None, decides="training")
    encoder_dropout_out: Optional[float] = removed(None, decides="training")
    decoder_dropout_in: Optional[float] = removed(None, decides="training")
    decoder_dropout_out: Optional[float] = removed(None, decides="training")
    grnn_annotations: str = removed("leaves")
    sepconv_groups: str = removed("1")
    sepconv_ordinary: bool = removed(False)
    sepconv_positions: bool = removed(False)
    unet_attention_gates: bool = removed(False)
    unet_growth: int = removed(1)
    unet_no_layer_norm: bool = removed(False)
    unet_no_word_residual: bool = removed(False)
    vnet_growth: int = removed(1)
    vnet_no_layer_norm: bool = removed(False)
    vnet_no_word_residual: bool = removed(False)
    grconv_unit_gates: bool = removed(False)
    grconv_dilated_annotations: str = removed("sum")
    # As many as --grconv-dilated-weights, always.
    grconv_dilated_biases: Optional[int] = removed(None, decides=None)
    # Whatever it was, the model is the same: RECURRENT_MT_KERNELS chooses now.
    kernel_backend: str = removed("auto", decides=None)


def check_removed(config: RemovedOptions) -> None:
    """Rejects an option that is gone.

    Raises:
        ValueError: naming it, and the commit that still has it.
    """
    for known in (one for one in fields(RemovedOptions) if "removed" in one.metadata):
        value, off = getattr(config, known.name, known.default), known.default
        if known.name == "grconv_dilated_biases":
            off = getattr(config, "grconv_dilated_weights", 1)
        if known.name == "kernel_backend":
            continue
        if value not in (known.default, off):
            option = f"--{known.name.replace('_', '-')}" + ("" if value is True else f" {value}")
            raise ValueError(
                f"{option} is not in this version any more (docs/log/removed.md); {LAST_COMMIT} still has it"
            )
