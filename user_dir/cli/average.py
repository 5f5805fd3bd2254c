"""Averages the parameters of checkpoints, of any fairseq model.

    recurrent-mt average checkpoints/checkpoint{8,9,10}.pt --out averaged.pt
    recurrent-mt average checkpoints/checkpoint_last.pt --ema --out ema.pt

fairseq's own script for this is not installed with it. With --ema, the exponential moving averages are taken that
fairseq-train --store-ema has kept in the checkpoints; one checkpoint is enough. The result translates, and can be
fine-tuned with --finetune-from-model; a training cannot go on from it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recurrent_mt.text_files import check_output_files

from ..checkpoints.conversions import average_checkpoints


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checkpoints", type=Path, nargs="+", help="checkpoints of one training")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint to write")
    parser.add_argument("--ema", action="store_true", help="take the moving averages of --store-ema")


def run(options: argparse.Namespace) -> None:
    """Writes the average."""
    check_output_files(options.checkpoints, [options.out])
    average_checkpoints(options.checkpoints, options.out, ema=options.ema)
    print(options.out)
