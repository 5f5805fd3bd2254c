"""A lock that the kernel gives back when the last process that holds it ends, however it does."""

from __future__ import annotations

import fcntl


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
