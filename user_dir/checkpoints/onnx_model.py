"""Takes a trained model apart for :mod:`recurrent_mt.onnx_export`."""

from __future__ import annotations

from fairseq.data import Dictionary

from recurrent_mt.layers.conditioned_gru import AttentiveGRU
from recurrent_mt.onnx_export import ExportedModel

from ..models.encoder_decoder import EncoderDecoderModel
from .checkpoint import Checkpoint

#: Sinusoids in the file of a model that has positions, unless it takes shorter sentences only.
EXPORTED_POSITIONS = 4096


def take_apart(checkpoint: Checkpoint) -> ExportedModel:
    """What an exported model is written from.

    Raises:
        ValueError: if the model is none of this plug-in, or has an adaptive softmax or several heads of attention.
    """
    model, task = checkpoint.model, checkpoint.task
    if not isinstance(model, EncoderDecoderModel):
        raise ValueError(f"{checkpoint.path} holds a {type(model).__name__}: only this plug-in's models are exported")
    output = model.decoder.output_projection
    if output is None:
        raise ValueError(
            f"{checkpoint.path} has an adaptive softmax (--adaptive-softmax-cutoff), which is not exported"
        )
    first = model.decoder.layer.first
    if isinstance(first, AttentiveGRU) and first.attention.heads > 1:
        raise ValueError(
            f"{checkpoint.path} has several heads of attention (--decoder-attention-heads), which are not exported"
        )
    longest_source, longest_target = model.max_positions()
    if getattr(model.encoder.layer, "positions", False):
        longest_source = min(longest_source, EXPORTED_POSITIONS)
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
