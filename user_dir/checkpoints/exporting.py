"""Trained models as ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recurrent_mt.layers.gru import GRU

from ..models.encoder_decoder import EncoderDecoderModel
from .checkpoint import Checkpoint

if TYPE_CHECKING:
    from recurrent_mt.onnx_export import ExportedModel


def write_onnx(checkpoint: Path, data: Path, folder: Path, *, int8: bool, shortlist: Path | None = None) -> None:
    """Writes a model as ONNX; arguments as of :func:`recurrent_mt.onnx_export.export_model`.

    Raises:
        OSError: if the shortlist cannot be read.
        ModuleNotFoundError: without onnx.
        ValueError: if checkpoint, dictionaries, and shortlist do not fit together, or the model cannot be exported.
    """
    from recurrent_mt.onnx_export import export_model

    export_model(take_apart(Checkpoint(checkpoint, data)), folder, int8=int8, shortlist=shortlist)


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
    words, output = task.source_dictionary, model.decoder.output_projection
    longest_source, longest_target = model.max_positions()
    return ExportedModel(
        encoder=model.encoder.layer,
        encoder_norm=model.encoder.norm,
        source_embedding=model.encoder.embed_tokens,
        decoder=model.decoder.layer,
        target_embedding=model.decoder.embed_tokens,
        output=output,
        source_words=words.symbols,
        target_words=task.target_dictionary.symbols,
        # All of fairseq's dictionaries begin with these.
        special={"<pad>": words.pad(), "</s>": words.eos(), "<unk>": words.unk()},
        longest_source=longest_source,
        longest_target=longest_target,
        name=type(model).__name__,
    )
