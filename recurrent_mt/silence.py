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


@contextmanager
def keep_root_logger() -> Iterator[None]:
    """Undoes what a library that is imported does to the root logger, which is the program's own."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers
