"""Silence for libraries that log more than anybody asked them for."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silence(level: int) -> Iterator[None]:
    """Drops all that is logged at this level or below; what is more urgent is shown."""
    before = logging.root.manager.disable
    logging.disable(level)
    try:
        yield
    finally:
        logging.disable(before)
