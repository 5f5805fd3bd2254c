"""The half of ``recurrent-mt align`` that reads a checkpoint."""

from __future__ import annotations

import argparse
from pathlib import Path

from recurrent_mt.text_files import read_sentences

from ..checkpoints.alignments import forced_alignments
from ..checkpoints.checkpoint import Checkpoint
from ..checkpoints.json_lines import write_json_lines


def write_alignments(options: argparse.Namespace, path: Path) -> None:
    """Writes the alignments of the given translations, one sentence per line.

    Args:
        options: the options of ``recurrent-mt align``.
        path: the file to write.

    Raises:
        OSError: if a file cannot be read or written.
        ValueError: if the files and the model do not fit together.
    """
    sides = [read_sentences(file) for file in (options.source, options.target)]
    checkpoint = Checkpoint(options.checkpoint, options.data)
    write_json_lines(path, forced_alignments(checkpoint, *sides, max_tokens=options.max_tokens))
