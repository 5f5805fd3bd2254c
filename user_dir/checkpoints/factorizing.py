"""Models of low rank made of trained ones with whole matrices."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import OmegaConf, open_dict
from torch import Tensor

from recurrent_mt.layers.weights import kept_share, truncate
from recurrent_mt.text_files import check_output_files

from .checkpoint import read_checkpoint, write_model

#: The matrices that ``--gru-rank`` factors, by the last part of their names; no other layer has weights with these
#: names.
FACTORED = ("input_weight", "gate_weight", "candidate_weight", "context_weight")


class FactoredMatrix(NamedTuple):
    """What happened to one matrix.

    Attributes:
        name: the parameter's name.
        shape: (M, K), the matrix's shape.
        rank: inner size of the product that replaced it.
        kept: the share of its squared singular values that the product keeps.
    """

    name: str
    shape: tuple[int, int]
    rank: int
    kept: float


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
    config = OmegaConf.to_container(low_rank_options(state["cfg"], rank), resolve=True, enum_to_str=True)
    write_model(made, config, model, state=state)
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


def low_rank_options(config: Any, rank: int) -> Any:
    """The checkpoint's configuration with that rank, and without what no low-rank layer has."""
    radii = {"encoder_spectral_radius": 1.0, "decoder_spectral_radius": 1.0}
    options = {"gru_rank": rank, "initialization": "default", **radii, "recurrent_dropout": 0.0}
    model = config["model"]
    if isinstance(model, Namespace):
        vars(model).update(options)
    else:
        with open_dict(config):
            model.update(options)
    return config
