"""Locks that the kernel gives back when those who hold them end, however they do."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path


def open_locked(path: Path, open_path: Callable[[], int], *, inherited: bool = True) -> int | None:
    """Opens and locks what has a path, a file or a folder; None if another process holds it.

    Args:
        path: that other processes may rename or remove.
        open_path: opens it, and makes it if it is not there.
        inherited: whether processes that inherit it open hold the lock, too, until the last of them ends. If not, it
            ends with this process, whatever goes on that it started.

    Raises:
        OSError: if there are no such locks where the file is, as on some network file systems.
    """
    lock = fcntl.flock if inherited else fcntl.lockf
    while True:
        file = open_path()
        try:
            lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            os.close(file)
            return None
        # Another may have removed or renamed it before the lock was there.
        if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
            return file
        os.close(file)
