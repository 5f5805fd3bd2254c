"""Turns a model of GroundHog, the authors' released code, into a fairseq checkpoint with dictionaries.

    recurrent-mt import-groundhog --params FILE.npz --save-dir DIR
    fairseq-interactive DIR --user-dir "$(recurrent-mt user-dir)" --path DIR/checkpoint.pt --beam 10

The kind of model (RNNenc, grConv, or RNNsearch) is recognized by its parameter names.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recurrent_mt.kernels.grconv import ACTIVATIONS

from ..checkpoints.groundhog import import_model


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--params", type=Path, required=True, help=".npz file of GroundHog's parameters")
    parser.add_argument("--save-dir", type=Path, required=True, help="folder for the checkpoint and dictionaries")
    parser.add_argument(
        "--source-words", type=Path, help="one word per line, line i for id i; without it, the word of id i is 'i'"
    )
    parser.add_argument("--target-words", type=Path, help="the same for the target")
    parser.add_argument(
        "--grconv-activation",
        choices=ACTIVATIONS,
        help="activation of a grConv model (GroundHog: enc_activ; default: relu)",
    )


def run(options: argparse.Namespace) -> None:
    """Writes the checkpoint."""
    kind = import_model(
        options.params,
        options.save_dir,
        source_words=options.source_words,
        target_words=options.target_words,
        grconv_activation=options.grconv_activation,
    )
    print(f"{kind}: {options.save_dir / 'checkpoint.pt'}")
