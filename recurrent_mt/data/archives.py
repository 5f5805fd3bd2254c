"""Compressed files and archives: whether they are whole, and single files out of them."""

from __future__ import annotations

import fnmatch
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..text_files import DAMAGE, OPENERS, FileError

TARS = (".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")
#: What these readers raise on a file that is cut off or damaged.
_DAMAGE = (*DAMAGE, OSError, tarfile.TarError, zipfile.BadZipFile)

_BLOCK = 1 << 20


def require_whole(path: Path, name: str | None = None) -> None:
    """Reads the file to its end, with the checksums of the format that its name, or the name given, ends with.

    Raises:
        FileError: if it is empty, cut off or damaged.
    """
    name = (name or path.name).lower()
    if path.stat().st_size == 0:
        raise FileError(path, "the file is empty")
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                if member := archive.testzip():
                    raise FileError(path, f"the file is damaged: the checksum of {member} in it is wrong")
        elif name.endswith(TARS):
            # Stream mode reads every byte, so that the checksum of the compression is tested too.
            with tarfile.open(path, "r|*") as archive:
                for _ in archive:
                    pass
        for ending, opener in OPENERS.items():
            if name.endswith(ending) or (ending == ".gz" and name.endswith(".tgz")):
                with opener(path, "rb") as file:
                    while file.read(_BLOCK):
                        pass
    except _DAMAGE as error:
        raise FileError(path, f"the file is cut off or damaged: {error}") from error


def extract(archive: Path, patterns: list[str], folder: Path) -> list[Path]:
    """Takes files out of a tar or zip archive to a folder: one a pattern, in which ``*`` matches anything.

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
