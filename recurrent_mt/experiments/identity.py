"""Names for settings: what decides a result is in the path of the result."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def identify(setting: Any) -> str:
    """Eight hexadecimal digits that differ between settings, whatever the order of keys."""
    text = json.dumps(setting, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:8]
