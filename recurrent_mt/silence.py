"""Silence for libraries that log more than anybody asked them for."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silence(level: int) -> Iterator[None]:
    """Drops all that is logged at this level or below; what is more urgent is shown.

    What a library that is imported meanwhile does to the root logger, which is the program's own, is undone.
    """
    root = logging.getLogger()
    disabled, root_level, handlers = root.manager.disable, root.level, root.handlers[:]
    logging.disable(level)
    try:
        yield
    finally:
        logging.disable(disabled)
        root.setLevel(root_level)
        root.handlers[:] = handlers
