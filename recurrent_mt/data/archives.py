"""Compressed files and archives: whether they are whole, and single files out of them."""

from __future__ import annotations

import bz2
import fnmatch
import gzip
import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

#: What opens a compressed file, by the end of its name.
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
TARS = (".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")
#: What these readers raise on a file that is cut off or damaged.
DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile)

_BLOCK = 1 << 20


class DamagedFileError(ValueError):
    """A file that is empty, cut off or damaged; the message names it and what is wrong with it."""


def require_whole(path: Path, name: str | None = None) -> None:
    """Reads the file to its end, with the check sums that its format has.

    Args:
        path: the file.
        name: whose ending tells the format, where the file is called otherwise.

    Raises:
        DamagedFileError: if it is empty, cut off or damaged.
    """
    name = (name or path.name).lower()
    if path.stat().st_size == 0:
        raise DamagedFileError(f"{path} is empty")
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                if member := archive.testzip():
                    raise DamagedFileError(f"{path} is damaged: the check sum of {member} in it is wrong")
        elif name.endswith(TARS):
            # Stream mode reads every byte, so that the check sum of the compression is tested too.
            with tarfile.open(path, "r|*") as archive:
                for _ in archive:
                    pass
        for ending, opener in OPENERS.items():
            if name.endswith(ending) or (ending == ".gz" and name.endswith(".tgz")):
                with opener(path, "rb") as file:
                    while file.read(_BLOCK):
                        pass
    except DAMAGE as error:
        raise DamagedFileError(f"{path} is cut off or damaged: {error}") from error


def extract(archive: Path, patterns: list[str], folder: Path) -> list[Path]:
    """Takes files out of a tar or zip archive.

    Args:
        archive: the archive.
        patterns: names, in which ``*`` stands for anything; each must be met by one file.
        folder: where they go.

    Returns:
        The files, one a pattern.

    Raises:
        LookupError: if no file matches a pattern, or several do.
    """
    found: dict[str, Path] = {}
    for name, source in _files(archive):
        for index, pattern in enumerate(patterns):
            if not fnmatch.fnmatchcase(name.removeprefix("./"), pattern):
                continue
            if pattern in found:
                raise LookupError(f"{archive} has more than one file {pattern}")
            found[pattern] = folder / f"{index}-{Path(name).name}"
            with found[pattern].open("wb") as file:
                shutil.copyfileobj(source, file)
    if missing := [pattern for pattern in patterns if pattern not in found]:
        raise LookupError(f"{archive} has no file {' nor '.join(missing)}")
    return [found[pattern] for pattern in patterns]


def _files(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Names and contents; each must be read before the next is asked for."""
    if archive.name.endswith(TARS):
        with tarfile.open(archive, "r|*") as tar:
            for member in tar:
                if source := tar.extractfile(member):
                    yield member.name, source
    else:
        with zipfile.ZipFile(archive) as container:
            for name in container.namelist():
                with container.open(name) as source:
                    yield name, source
