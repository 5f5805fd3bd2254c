"""The half of ``recurrent-mt structure`` that reads a checkpoint."""

from __future__ import annotations

import argparse
from pathlib import Path

from recurrent_mt.text_files import read_sentences

from ..checkpoints.checkpoint import Checkpoint
from ..checkpoints.gates import sentence_gates
from ..checkpoints.json_lines import write_json_lines


def write_gates(options: argparse.Namespace, path: Path) -> None:
    """Writes the gates of each sentence's pyramid, one sentence per line.

    Args:
        options: the options of ``recurrent-mt structure``.
        path: the file to write.

    Raises:
        OSError: if a file cannot be read or written.
        ValueError: if the model is not a grConv.
    """
    sentences = read_sentences(options.source)
    checkpoint = Checkpoint(options.checkpoint, options.data)
    write_json_lines(path, sentence_gates(checkpoint, sentences, max_tokens=options.max_tokens))
