"""The file of gates: a pyramid for each sentence, or the windows of a dilated grConv."""

from __future__ import annotations

from os import PathLike
from typing import Any

from ...text_files import read_sentence_records
from .pyramid import Pyramid
from .windows import Windows

FIELDS = {"sentence": int, "source": list, "gates": list}


def read_gates(path: str | PathLike[str]) -> list[Pyramid] | list[Windows]:
    """Reads the gates that :func:`user_dir.checkpoints.gates.sentence_gates` found, one sentence a line.

    Raises:
        FileError: naming the line that is not a whole pyramid, or not all windows of a sentence, not the next sentence,
            or of another kind than the first.
    """
    kinds: list[bool] = []

    def make(record: dict[str, Any]) -> Any:
        kinds.append(bool(record.get("dilated")))
        if kinds[-1] != kinds[0]:
            raise ValueError("a pyramid and a dilated grConv in one file: lines of two models were mixed")
        return gates_of(record)

    return read_sentence_records(path, FIELDS, make)


def gates_of(record: dict[str, Any]) -> Pyramid | Windows:
    """The gates of one sentence, as `sentence_gates` returns them.

    Raises:
        ValueError: if they are not whole.
    """
    kind = Windows if record.get("dilated") else Pyramid
    return kind.from_levels(record["sentence"], record["source"], record["gates"])
