"""What a model has made of sentences: as JSON, one sentence a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recurrent_mt.text_files import write_aside

#: How many decimals of a gate or a weight are kept.
DIGITS = 5


def write_json_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Writes JSON objects, one per line; the file appears once it is complete."""
    with write_aside(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
