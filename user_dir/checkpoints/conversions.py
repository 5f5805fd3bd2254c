"""Models made of trained ones: the mean of several, one of low rank, one in half precision to hand on, ONNX."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from fairseq.data import Dictionary
from fairseq.models import MODEL_DATACLASS_REGISTRY
from omegaconf import OmegaConf, open_dict
from torch import Tensor

from recurrent_mt.layers.weights import kept_share, truncate
from recurrent_mt.text_files import check_output_files

from ..models.config import EncoderDecoderConfig
from ..models.encoder_decoder import EncoderDecoderModel
from .checkpoint import Checkpoint, read_checkpoint, write_model

if TYPE_CHECKING:
    from recurrent_mt.onnx_export import ExportedModel

#: The matrices that ``--gru-rank`` factors, by the last part of their names; no other layer has weights with these
#: names.
FACTORED = ("input_weight", "gate_weight", "candidate_weight", "context_weight")


#: The least cosine of the parameters of two models of one training. Two trainings from other random numbers stayed
#: below 0.03, with seven kinds of models; two checkpoints of one training are close to 1.
RELATED = 0.1


def average_checkpoints(paths: Sequence[Path], out: Path, *, ema: bool = False) -> None:
    """Writes the mean of the models, with the options of the last (Junczys-Dowmunt et al. 2016, section 2.3).

    Works with any fairseq model.

    Args:
        paths: checkpoints of models of the same shapes.
        out: the file to write, without an optimizer's state.
        ema: average what fairseq's ``--store-ema`` has kept, the exponential moving averages, instead of the models.

    Raises:
        ValueError: if a file is missing or no checkpoint, if the models differ in their parameters, languages, or
            options that change what they compute, if they come from separate trainings, or if one has no moving
            average though it is asked for.
    """
    sums: dict[str, Tensor] = {}
    first: Any = None
    pair = ""
    for path in paths:
        state = read_checkpoint(path)
        if first is None:
            first, pair = function_options(state), language_pair(state)
        options = function_options(state)
        changes = [
            f"--{name.replace('_', '-')} {old} → {options[name]}"
            for name, old in first.items()
            if name in options and options[name] != old
        ]
        # With one dictionary for both languages, their shapes are the same.
        if pair and (own := language_pair(state)) and own != pair:
            changes = [f"{pair} → {own}", *changes]
        if changes:
            raise ValueError(f"{paths[0]} and {path} hold different models: {', '.join(changes)}")
        parameters = state["model"]
        if ema:
            if "ema" not in state["extra_state"]:
                raise ValueError(f"{path} has no moving average: it was trained without --store-ema")
            # In 16 bits, "ema" is a rounded copy.
            parameters = state["extra_state"].get("ema_fp32_params", state["extra_state"]["ema"])
        if sums:
            check_related(sums, parameters, f"{path} and {paths[0]}")
        for name, value in parameters.items():
            sums[name] = value.double() if name not in sums else sums[name] + value.double()
    means = change_parameters(parameters, lambda name, value: mean(sums[name], len(paths), like=value))
    config = state["cfg"]
    if OmegaConf.is_config(config):
        config = OmegaConf.to_container(config, resolve=True, enum_to_str=True)
    write_model(out, config, means, state=state)


def check_related(sums: Mapping[str, Tensor], parameters: Mapping[str, Tensor], files: str) -> None:
    """Raises ValueError, naming the files, if parameters have another shape, or come from another training."""
    shapes, others = ({name: value.shape for name, value in model.items()} for model in (sums, parameters))
    if shapes != others:
        raise ValueError(f"{files} hold different models: their parameters differ in name or shape")
    if (likeness := cosine(sums, parameters)) < RELATED:
        raise ValueError(
            f"{files} come from separate trainings, whose mean is no model: the cosine of their parameters is "
            f"{likeness:.2f}. Give both to --path, joined by a colon, as an ensemble"
        )


def cosine(sums: Mapping[str, Tensor], parameters: Mapping[str, Tensor]) -> float:
    """The cosine of two models' parameters, each without its mean: the ones of layer norms would make all alike."""
    products = torch.zeros(3, dtype=torch.float64)
    for name, value in parameters.items():
        if value.is_floating_point():
            first, second = (each.double() - each.double().mean() for each in (sums[name], value))
            products += torch.stack([(first * second).sum(), first.square().sum(), second.square().sum()])
    return float(products[0] / products[1:].prod().sqrt())


def function_options(state: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a checkpoint's model that decide what it computes, by name; empty for a model of fairseq's own."""
    model: Any = state.get("args") or (state.get("cfg") or {}).get("model") or {}
    model = vars(model) if isinstance(model, Namespace) else model
    architecture = model.get("_name", model.get("arch"))
    kind = MODEL_DATACLASS_REGISTRY.get(architecture)
    if kind is None or not issubclass(kind, EncoderDecoderConfig):
        return {}
    decisive = [known for known in fields(kind) if known.metadata.get("decides") == "function"]
    values = {known.name: model.get(known.name, known.default) for known in decisive}
    # By their present names.
    former = {known.name: known.metadata.get("former_names", {}) for known in decisive}
    return {"arch": architecture, **{name: former[name].get(value, value) for name, value in values.items()}}


def language_pair(state: Mapping[str, Any]) -> str:
    """The languages that a model was trained for; empty where its checkpoint does not say them."""
    task: Any = (state.get("cfg") or {}).get("task") or state.get("args") or {}
    # Earlier versions of fairseq kept what was given on the command line.
    task = vars(task) if isinstance(task, Namespace) else task
    source, target = task.get("source_lang"), task.get("target_lang")
    return f"{source}-{target}" if source and target else ""


def change_parameters(parameters: dict[str, Tensor], change: Callable[[str, Tensor], Tensor]) -> dict[str, Tensor]:
    """What becomes of each parameter; those that share memory still do, so that files have them once."""
    made: dict[tuple[int, torch.Size], Tensor] = {}
    for name, value in parameters.items():
        if (place := (value.data_ptr(), value.shape)) not in made:
            made[place] = change(name, value)
    return {name: made[value.data_ptr(), value.shape] for name, value in parameters.items()}


def mean(total: Tensor, count: int, *, like: Tensor) -> Tensor:
    """A sum as a mean in a parameter's own format; whole numbers, such as counters, are rounded down."""
    return (total / count if like.is_floating_point() else torch.floor(total / count)).to(like.dtype)


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
        ValueError: if there is no such file, if it has no whole GRU layer of this package, if the rank is not
            positive, or if the file to write is the one to read.
    """
    if rank < 1:
        raise ValueError(f"--rank must be at least 1, not {rank}")
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


class ModelFacts(NamedTuple):
    """What a checkpoint says of its model.

    Attributes:
        architecture: fairseq's name of it.
        parameters: how many, shared ones counted once.
        updates: of its training.
        epochs: begun.
    """

    architecture: str
    parameters: int
    updates: int
    epochs: int


def write_half_precision(checkpoint: Path, path: Path) -> ModelFacts:
    """Writes the model of a checkpoint with parameters of 16 bits; whoever loads it computes in 32.

    Left out are the optimizer's state, what was measured, and all names of files and folders. Products are those of
    single precision again, whatever the training had.

    Raises:
        ValueError: if the checkpoint cannot be read, or a number is too large for 16 bits.
    """
    state = read_checkpoint(checkpoint)
    halved = halve(state["model"])
    for name, parameter in halved.items():
        if not torch.isfinite(parameter).all():
            raise ValueError(f"{checkpoint}: {name} has numbers that half precision cannot hold")
    config: Any = OmegaConf.to_container(OmegaConf.create(state["cfg"]), resolve=True, enum_to_str=True)
    config = forget_places(config)
    if "autocast" in config["model"]:
        config["model"]["autocast"] = "none"
    write_model(path, config, halved, state={"args": None, "task_state": {}})
    extra, history = state.get("extra_state") or {}, state.get("optimizer_history") or [{}]
    different = {parameter.data_ptr(): parameter.numel() for parameter in halved.values()}
    return ModelFacts(
        str(config["model"]["_name"]),
        sum(different.values()),
        int(history[-1].get("num_updates", 0)),
        int((extra.get("train_iterator") or {}).get("epoch", 0)),
    )


def halve(parameters: dict[str, Tensor]) -> dict[str, Tensor]:
    """The parameters in half precision; whole numbers stay."""
    return change_parameters(parameters, lambda name, value: value.half() if value.is_floating_point() else value)


def forget_places(options: Any) -> Any:
    """Options without the values that name a place on this machine."""
    if isinstance(options, dict):
        return {name: forget_places(value) for name, value in options.items()}
    if isinstance(options, list):
        return [forget_places(value) for value in options]
    return "" if isinstance(options, str) and any(Path(part).is_absolute() for part in options.split(":")) else options


def take_apart(checkpoint: Checkpoint) -> ExportedModel:
    """What :mod:`recurrent_mt.onnx_export` writes a model from.

    Raises:
        ModuleNotFoundError: without onnx.
        ValueError: if the model is none of this plug-in, or has an adaptive softmax.
    """
    from recurrent_mt.onnx_export import ExportedModel

    model, task = checkpoint.model, checkpoint.task
    if not isinstance(model, EncoderDecoderModel):
        raise ValueError(f"{checkpoint.path} holds a {type(model).__name__}: only this plug-in's models are exported")
    output = model.decoder.output_projection
    if output is None:
        raise ValueError(
            f"{checkpoint.path} has an adaptive softmax (--adaptive-softmax-cutoff), which is not exported"
        )
    longest_source, longest_target = model.max_positions()
    return ExportedModel(
        encoder=model.encoder.layer,
        encoder_norm=model.encoder.norm,
        encoder_attention=model.encoder.self_attention,
        source_embedding=model.encoder.embed_tokens,
        decoder=model.decoder.layer,
        target_embedding=model.decoder.embed_tokens,
        output=output,
        source_words=task.source_dictionary.symbols,
        target_words=task.target_dictionary.symbols,
        special=special_numbers(task.source_dictionary, task.target_dictionary),
        longest_source=longest_source,
        longest_target=longest_target,
        name=type(model).__name__,
    )


def special_numbers(source: Dictionary, target: Dictionary) -> dict[str, int]:
    """The numbers of the special symbols.

    Raises:
        ValueError: if the two dictionaries do not agree on them.
    """
    numbers = [{"<pad>": words.pad(), "</s>": words.eos(), "<unk>": words.unk()} for words in (source, target)]
    if numbers[0] != numbers[1]:
        raise ValueError(f"source and target number their special symbols differently: {numbers[0]}, {numbers[1]}")
    return numbers[0]
