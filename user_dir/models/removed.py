"""Options that models no longer have, so that checkpoints and commands that need one are refused by its name.

fairseq drops from a checkpoint's options those that a model does not define, without a word, and would then load
another model than was trained. So they stay defined, out of sight, at the value that means that they are off. What each
one gave, and why it went, is in docs/measurements/removed.md.
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

    decoder_attention_heads: int = removed(1)
    decoder_cell_layer_norm: bool = removed(False)
    encoder_cell_layer_norm: bool = removed(False)
    unet_attention_gates: bool = removed(False)
    grconv_unit_gates: bool = removed(False)
    grconv_dilated_annotations: str = removed("sum")
    # As many as --grconv-dilated-weights, always.
    grconv_dilated_biases: Optional[int] = removed(None, decides=None)


def check_removed(config: RemovedOptions) -> None:
    """Rejects an option that is gone.

    Raises:
        ValueError: naming it, and the commit that still has it.
    """
    for known in (one for one in fields(RemovedOptions) if "removed" in one.metadata):
        value, off = getattr(config, known.name, known.default), known.default
        if known.name == "grconv_dilated_biases":
            off = getattr(config, "grconv_dilated_weights", 1)
        if value not in (known.default, off):
            option = f"--{known.name.replace('_', '-')}" + ("" if value is True else f" {value}")
            raise ValueError(
                f"{option} is not in this version any more (docs/measurements/removed.md); {LAST_COMMIT} still has it"
            )
