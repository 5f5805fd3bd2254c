"""A lock that the kernel gives back when the last process that holds it ends, however it does."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path


def lock_file(file: int) -> bool:
    """Locks an open file or folder for this process, and for those that inherit it open.

    Returns:
        Whether it could: another process may hold it.

    Raises:
        OSError: if there are no such locks where the file is, as on some network file systems.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def open_locked(path: Path, open_path: Callable[[], int]) -> int | None:
    """Opens and locks what has a path, a file or a folder; None if another process holds it.

    Args:
        path: that other processes may rename or remove.
        open_path: opens it, and makes it if it is not there.
    """
    while True:
        file = open_path()
        if not lock_file(file):
            os.close(file)
            return None
        # Another may have removed or renamed it before the lock was there.
        if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
            return file
        os.close(file)
