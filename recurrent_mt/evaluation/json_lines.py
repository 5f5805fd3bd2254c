"""Files of JSON objects, one a line: what :mod:`user_dir.checkpoints` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from os import PathLike
from typing import Any

from .log_lines import LogError, read_lines


def read_json_lines(path: str | PathLike[str], fields: dict[str, type]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (line from 1, object) for each line.

    Args:
        path: of the file.
        fields: what every object must have, and of which type; more is allowed.

    Raises:
        LogError: at the first line that is no such object.
    """
    for line, text in read_lines(path):
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise LogError(path, f"this is not JSON: {error}", line=line) from error
        if not isinstance(record, dict):
            raise LogError(path, f"expected an object with the fields {', '.join(fields)}", line=line)
        for field, kind in fields.items():
            if not isinstance(record.get(field), kind):
                raise LogError(path, f"the field {field!r} is missing or no {kind.__name__}", line=line)
        yield line, record
