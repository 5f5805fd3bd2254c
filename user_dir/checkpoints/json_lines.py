"""Writes JSON objects, one per line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any


def write_json_lines(path: str | PathLike[str], records: Iterable[dict[str, Any]]) -> None:
    """Writes the records; the file appears once it is complete."""
    partial = Path(f"{path}.partial")
    with partial.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    partial.replace(path)
