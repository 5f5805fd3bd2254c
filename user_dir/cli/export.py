"""Writes a model as ONNX, for translation without fairseq and PyTorch.

    recurrent-mt export checkpoint_best.pt --data DATA --out FOLDER
    recurrent-mt translate RUN FOLDER <test.fr >test.en

The folder holds the encoder, one step of the decoder, the words of both languages, and a manifest. Models
with GRU, minimal GRU, or grConv encoders can be exported, the authors' imported ones included, but for --skip-time,
deep transitions, and self-attention. An encoder's low-rank matrices are multiplied out. Needs the package onnx.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..checkpoints.exporting import write_onnx


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checkpoint", type=Path, help="checkpoint of the model")
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with the dictionaries, as for fairseq-generate"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument(
        "--shortlist",
        type=Path,
        metavar="FILE",
        help="from recurrent-mt shortlist: the search scores the words of this file alone, and is faster",
    )
    parser.add_argument("--int8", action="store_true", help="store embeddings and linear layers in eight bits")


def run(options: argparse.Namespace) -> None:
    """Writes the folder, and prints the sizes of its graphs."""
    write_onnx(options.checkpoint, options.data, options.out, int8=options.int8, shortlist=options.shortlist)
    for file in sorted(options.out.glob("*.onnx")):
        print(f"{file}  {file.stat().st_size / 1e6:.1f} MB")
