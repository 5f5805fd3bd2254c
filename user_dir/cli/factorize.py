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
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from recurrent_mt.arguments import positive
from recurrent_mt.layers.weights import kept_share, truncate
from recurrent_mt.text_files import check_output_files

from ..checkpoints.checkpoint import model_options, read_checkpoint, write_model

#: The matrices that ``--gru-rank`` factors, by the last part of their names; no other layer has weights with these
#: names.
FACTORED = ("input_weight", "gate_weight", "candidate_weight", "context_weight")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--checkpoint", type=Path, required=True, help="checkpoint of a model trained without --gru-rank"
    )
    parser.add_argument(
        "--rank", type=positive, required=True, help="inner size of the products, which is --gru-rank of the result"
    )
    parser.add_argument("--save-dir", type=Path, required=True, help="folder for checkpoint.pt")


def run(options: argparse.Namespace) -> None:
    """Writes the model, and prints what became of each matrix."""
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


class FactoredMatrix(NamedTuple):
    """What happened to one matrix."""

    name: str  # the parameter's name
    shape: tuple[int, int]  # (M, K), the matrix's shape
    rank: int  # inner size of the product that replaced it
    kept: float  # the share of its squared singular values that the product keeps


def factorize_checkpoint(checkpoint: Path, save_dir: Path, *, rank: int) -> tuple[Path, list[FactoredMatrix]]:
    """Writes ``checkpoint.pt`` into ``save_dir``: the model that ``--gru-rank`` builds, closest to the trained one.

    Each matrix is replaced by its truncated singular value decomposition; see
    :class:`~recurrent_mt.layers.weights.LowRankMatrix`. Everything else in the model is unchanged; the optimizer's
    state is left out. What concerns the training of whole matrices alone has its default in the written options:
    ``--initialization`` with its spectral radii, and ``--recurrent-dropout``.

    Args:
        checkpoint: a trained model with whole matrices.
        save_dir: created if missing.
        rank: R.

    Returns:
        The file, and what happened to each matrix.

    Raises:
        ValueError: if there is no such file, if it has no whole GRU layer of this package, or if the file to write is
            the one to read.
    """
    made = save_dir / "checkpoint.pt"
    check_output_files([checkpoint], [made], "--save-dir")
    state = read_checkpoint(checkpoint)
    try:
        model, matrices = factor_matrices(state["model"], rank)
    except ValueError as error:
        raise ValueError(f"{checkpoint}: {error}") from error
    radii = {"encoder_spectral_radius": 1.0, "decoder_spectral_radius": 1.0}
    model_options(state["cfg"]).update(gru_rank=rank, initialization="default", **radii, recurrent_dropout=0.0)
    write_model(made, state["cfg"], model, state=state)
    return made, matrices


def factor_matrices(model: Mapping[str, Tensor], rank: int) -> tuple[dict[str, Tensor], list[FactoredMatrix]]:
    """The parameters with each matrix of :data:`FACTORED` as a product, and what happened to each.

    Raises:
        ValueError: if there is no such matrix, or if they already are products.
    """
    parameters, matrices = {}, []
    for name, weight in model.items():
        *_, owner, last = ("", *name.split("."))
        if last in ("left", "right") and owner in FACTORED:
            raise ValueError("its GRU layers are already low-rank: start from the checkpoint with whole matrices")
        if last not in FACTORED:
            parameters[name] = weight
            continue
        left, right = truncate(weight.float(), rank)
        parameters[f"{name}.left"], parameters[f"{name}.right"] = left.to(weight.dtype), right.to(weight.dtype)
        shape = (weight.size(0), weight.size(1))
        matrices.append(FactoredMatrix(name, shape, left.size(1), kept_share(weight.float(), rank)))
    if not matrices:
        raise ValueError("it has no GRU layer of this package")
    return parameters, matrices
