"""Makes a low-rank model from a trained one: every matrix of its GRU layers becomes a product of two narrow ones.

    recurrent-mt factorize --checkpoint FULL.pt --rank R --save-dir DIR
    fairseq-train DATA --user-dir "$(recurrent-mt user-dir)" --finetune-from-model DIR/checkpoint.pt --gru-rank R …
    fairseq-generate DATA --user-dir "$(recurrent-mt user-dir)" --path DIR/checkpoint.pt

Truncated singular value decomposition (Prabhavalkar et al. 2016). Fine-tune with the model's other options
unchanged, but without --initialization published, its spectral radii, and --recurrent-dropout, which drops numbers
of whole matrices: the result's own options have none of these. "Kept" is the share of a matrix's squared singular
values that the product keeps.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recurrent_mt.arguments import positive

from ..checkpoints.conversions import FactoredMatrix, factorize_checkpoint


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--checkpoint", type=Path, required=True, help="checkpoint of a model trained without --gru-rank"
    )
    parser.add_argument(
        "--rank", type=positive, required=True, help="inner size of the products, which is --gru-rank of the result"
    )
    parser.add_argument("--save-dir", type=Path, required=True, help="folder for checkpoint.pt")


def run(options: argparse.Namespace) -> None:
    """Writes the low-rank model, and prints what each product keeps."""
    file, matrices = factorize_checkpoint(options.checkpoint, options.save_dir, rank=options.rank)
    print(render_table(matrices))
    print(file)


def render_table(matrices: list[FactoredMatrix]) -> str:
    """One line for each matrix, and one for all of them."""
    width = max(len(matrix.name) for matrix in matrices)
    lines = [f"{'matrix':{width}} {'shape':>13} {'rank':>5} {'kept':>7} {'numbers':>10} {'before':>10}"]
    before = after = 0
    for name, (rows, columns), rank, kept in matrices:
        numbers = rank * (rows + columns)
        before, after = before + rows * columns, after + numbers
        shape = f"{rows} × {columns}"
        lines.append(f"{name:{width}} {shape:>13} {rank:5d} {kept:7.4f} {numbers:10d} {rows * columns:10d}")
    return "\n".join([*lines, f"{'all':{width}} {'':13} {'':5} {'':7} {after:10d} {before:10d}"])
