"""A disk that can be filled while something writes to it."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
from pathlib import Path


class SmallDisk:
    """A file system in memory where this user may mount one; elsewhere a folder, and a limit on a file's size.

    Args:
        folder: made, and mounted on where that is allowed.
        megabytes: room of the file system.
    """

    def __init__(self, folder: Path, megabytes: int = 64) -> None:
        folder.mkdir()
        self.folder = folder
        self.filler = folder / "filler"
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
        try:
            self.mounted = subprocess.run(command, capture_output=True).returncode == 0
        except FileNotFoundError:
            self.mounted = False

    @property
    def message(self) -> str:
        """What the operating system says when there is no room."""
        return os.strerror(28 if self.mounted else 27)

    def fill(self, process: int, size: int, share: float) -> None:
        """Leaves too little room for a file of `size` bytes and a copy of it, or, with the limit, just for the file.

        Called again, it takes what the process has given back.

        Args:
            process: that writes.
            size: of what it will write.
            share: of what it needs, below 1.
        """
        if not self.mounted:
            resource.prlimit(process, resource.RLIMIT_FSIZE, (int(share * size), resource.RLIM_INFINITY))
            return
        status = os.statvfs(self.folder)
        extra = status.f_bavail * status.f_bsize - int(2 * share * size)
        if extra <= 0:
            return
        with self.filler.open("ab") as file:
            try:
                os.posix_fallocate(file.fileno(), file.tell(), extra)
            except OSError as error:
                if error.errno != errno.ENOSPC:  # the process has just taken some of it
                    raise

    def empty(self) -> None:
        """Gives the room back."""
        self.filler.unlink(missing_ok=True)

    def unmount(self) -> None:
        """The end of it."""
        if self.mounted:
            subprocess.run(["umount", str(self.folder)], check=True)
