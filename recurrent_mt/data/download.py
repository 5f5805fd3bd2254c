"""Downloads that go on where they broke off and count as done only when they are whole, and files out of archives."""

from __future__ import annotations

import fnmatch
import http.client
import shutil
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tqdm import tqdm

from ..text_files import DAMAGE, OPENERS, FileError

TARS = (".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")
#: What these readers raise on a file that is cut off or damaged.
_DAMAGE = (*DAMAGE, tarfile.TarError, zipfile.BadZipFile)

_BLOCK = 1 << 18
#: Connections in a row that bring nothing new before a server is given up.
ATTEMPTS = 5
#: Seconds before the second of them; doubled for each further one.
FIRST_PAUSE = 2.0
#: Seconds without a byte after which a connection counts as cut.
TIMEOUT = 60.0
#: Seconds between two looks at how far a download has come.
_LOOK = 5


def require_whole(path: Path, name: str) -> None:
    """Reads the file to its end, with the checksums of the format that the name ends with.

    Raises:
        FileError: if it is empty, cut off or damaged.
    """
    name = name.lower()
    if path.stat().st_size == 0:
        raise FileError(path, "the file is empty")
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                if member := archive.testzip():
                    raise FileError(path, f"the file is damaged: the checksum of {member} in it is wrong")
        elif name.endswith(".tar"):
            with tarfile.open(path, "r|") as tar:
                for _ in tar:
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
        ValueError: if no file matches a pattern, or several do.
    """
    found: dict[str, Path] = {}
    for name, source in _files(archive):
        for index, pattern in enumerate(patterns):
            if not fnmatch.fnmatchcase(name.removeprefix("./"), pattern):
                continue
            if pattern in found:
                raise ValueError(f"{archive} has more than one file {pattern}")
            found[pattern] = folder / f"{index}-{Path(name).name}"
            with found[pattern].open("wb") as file:
                shutil.copyfileobj(source, file)
    if missing := [pattern for pattern in patterns if pattern not in found]:
        raise ValueError(f"{archive} has no file {' nor '.join(missing)}")
    return [found[pattern] for pattern in patterns]


def _files(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Names and contents; each must be read before the next is asked for."""
    if archive.name.endswith(TARS):
        with tarfile.open(archive, "r|*") as tar:
            for member in tar:
                # A stream cannot go back to what a link leads to.
                if source := tar.extractfile(member) if member.isfile() else None:
                    yield member.name, source
    else:
        with zipfile.ZipFile(archive) as container:
            for name in container.namelist():
                with container.open(name) as source:
                    yield name, source


def download(url: str, path: Path) -> Path:
    """Gets the file at an http or https address, or what is missing of it; does nothing if it is there.

    Raises:
        RuntimeError: if the server has no such file, breaks off again and again, or sends what is empty, cut off, or
            damaged; it names the file. What was cut off stays for the next call, what is wrong goes.
    """
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    partial, version = Path(f"{path}.partial"), Path(f"{path}.version")
    failures = 0
    while True:
        before = _size(partial)
        try:
            if _receive(url, partial, version):
                break
            reason = "the connection was cut"
        except urllib.error.HTTPError as error:
            reason = f"the server answers {error.code} {error.reason}"
            if error.code < 500 and error.code not in (408, 429):
                raise RuntimeError(f"{url}: {reason}") from error
        except (OSError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
        failures = 0 if _size(partial) > before else failures + 1
        if failures >= ATTEMPTS:
            raise RuntimeError(f"{url}: {reason}; call again to go on after {_size(partial):,} bytes")
        time.sleep(FIRST_PAUSE * 2 ** max(failures - 1, 0))
    try:
        require_whole(partial, path.name)
    except FileError as error:
        partial.unlink()
        version.unlink(missing_ok=True)
        raise RuntimeError(f"{url}: what came is refused: {error}") from error
    partial.rename(path)
    version.unlink(missing_ok=True)
    return path


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _receive(url: str, partial: Path, version: Path) -> bool:
    """Asks once for what is missing; True if the whole file is there.

    What is there counts only with the server's name of its version: parts of two are never joined.
    """
    start = _size(partial) if version.exists() else 0
    headers = {"User-Agent": "fairseq-recurrent-mt"}
    if start:
        headers |= {"Range": f"bytes={start}-", "If-Range": version.read_text(encoding="utf-8")}
    try:
        response = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        # Nothing is left to send, or the file has become shorter: one more request from its beginning tells.
        version.unlink()
        return False
    with response:
        if response.status == http.client.PARTIAL_CONTENT:
            if not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                version.unlink(missing_ok=True)
                raise http.client.HTTPException("the server sends another part of the file than was asked for")
        else:
            start = 0
            version.unlink(missing_ok=True)
            tag = response.headers.get("ETag") or response.headers.get("Last-Modified")
            # Only a strong validator says that the bytes are the same.
            if tag and not tag.startswith("W/"):
                version.write_text(tag, encoding="utf-8")
        length = response.headers.get("Content-Length")
        size = start + int(length) if length else None
        bar = tqdm(desc=url, total=size, initial=start, unit="B", unit_scale=True, mininterval=_LOOK)
        with partial.open("ab" if start else "wb") as file, bar:
            while block := response.read(_BLOCK):
                bar.update(file.write(block))
            return size is None or file.tell() == size
