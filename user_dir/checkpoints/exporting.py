"""Trained models as ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairseq.data import Dictionary

from recurrent_mt.layers.gru import GRU

from ..models.encoder_decoder import EncoderDecoderModel
from .checkpoint import Checkpoint

if TYPE_CHECKING:
    from recurrent_mt.onnx_export import ExportedModel


def write_onnx(checkpoint: Path, data: Path, folder: Path, *, int8: bool) -> None:
    """Writes a model as ONNX.

    Raises:
        ModuleNotFoundError: without onnx.
        ValueError: if the checkpoint and the dictionaries do not fit together, or the model cannot be exported.
    """
    from recurrent_mt.onnx_export import export_model

    export_model(take_apart(Checkpoint(checkpoint, data)), folder, int8=int8)


def take_apart(checkpoint: Checkpoint) -> ExportedModel:
    """What :mod:`recurrent_mt.onnx_export` writes a model from.

    Raises:
        ModuleNotFoundError: without onnx.
        ValueError: if the model is none of this plug-in, or has what no graph here has.
    """
    from recurrent_mt.onnx_export import ExportedModel

    model, task = checkpoint.model, checkpoint.task
    if not isinstance(model, EncoderDecoderModel):
        raise ValueError(f"{checkpoint.path} holds a {type(model).__name__}: only this plug-in's models are exported")
    variants = [part.variant for part in model.modules() if isinstance(part, GRU)]
    reasons = {
        "--skip-time": any(variant.time_skip for variant in variants),
        "a deep transition": any(variant.transition_depth > 1 for variant in variants),
        "self-attention": model.encoder.self_attention is not None or model.decoder.layer.self_attention is not None,
    }
    for reason in (reason for reason, holds in reasons.items() if holds):
        raise ValueError(f"{checkpoint.path} has {reason}, which is not exported: translate with fairseq")
    output = model.decoder.output_projection
    longest_source, longest_target = model.max_positions()
    return ExportedModel(
        encoder=model.encoder.layer,
        encoder_norm=model.encoder.norm,
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
