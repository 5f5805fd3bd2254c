"""The halves of ``recurrent-mt align``, ``demo``, ``pack``, and ``structure`` that read a checkpoint."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recurrent_mt.text_files import read_sentences, write_aside

from ..checkpoints.checkpoint import Checkpoint
from ..checkpoints.conversions import ModelFacts, take_apart, write_half_precision
from ..checkpoints.inspection import forced_alignments, sentence_gates
from ..checkpoints.translator import Translator

__all__ = ["ModelFacts", "Translator", "write_alignments", "write_gates", "write_half_precision", "write_onnx"]


def write_alignments(options: argparse.Namespace, path: Path) -> None:
    """Writes the alignments of the given translations, one sentence per line, with the options of ``align``.

    Raises:
        OSError: if a file cannot be read or written.
        ValueError: if the files and the model do not fit together.
    """
    sides = [read_sentences(file) for file in (options.source, options.target)]
    checkpoint = Checkpoint(options.checkpoint, options.data)
    write_json_lines(path, forced_alignments(checkpoint, *sides, max_tokens=options.max_tokens))


def write_gates(options: argparse.Namespace, path: Path) -> None:
    """Writes the gates over each sentence, one sentence per line, with the options of ``structure``.

    Raises:
        OSError: if a file cannot be read or written.
        ValueError: if the files and the model do not fit together, or if there is no root for a sentence.
    """
    sentences = read_sentences(options.source)
    checkpoint = Checkpoint(options.checkpoint, options.data)
    targets = read_sentences(options.target) if options.target else None
    found = sentence_gates(checkpoint, sentences, targets, max_tokens=options.max_tokens)
    height = getattr(checkpoint.model.encoder.layer, "height", 0)
    longest = max(found, key=lambda record: len(record["source"]))
    if 0 < height < len(longest["source"]) - 1:
        raise ValueError(
            f"{checkpoint.path} has --grconv-height {height}: over sentence {longest['sentence']} of "
            f"{len(longest['source'])} tokens, its pyramid has no root to draw or to read a tree from"
        )
    write_json_lines(path, found)


def write_json_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Writes JSON objects, one per line; the file appears once it is complete."""
    with write_aside(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def write_onnx(checkpoint: Path, data: Path, folder: Path, *, int8: bool) -> None:
    """Writes a model as ONNX.

    Raises:
        ModuleNotFoundError: without onnx, or for eight bits onnxruntime.
        ValueError: if the checkpoint and the dictionaries do not fit together, or the model cannot be exported.
    """
    from recurrent_mt.onnx_export import export_model

    export_model(take_apart(Checkpoint(checkpoint, data)), folder, int8=int8)
