"""Downloads that go on where they broke off and count as done only when they are whole, and files out of archives."""

from __future__ import annotations

import fnmatch
import hashlib
import http.client
import re
import shutil
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..text_files import DAMAGE, OPENERS, FileError

TARS = (".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")
#: What these readers raise on a file that is cut off or damaged.
_DAMAGE = (*DAMAGE, tarfile.TarError, zipfile.BadZipFile)

_ARCHIVE_BLOCK = 1 << 20


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
                    while file.read(_ARCHIVE_BLOCK):
                        pass
    except _DAMAGE as error:
        raise FileError(path, f"the file is cut off or damaged: {error}") from error


def extract(archive: Path, patterns: list[str], folder: Path) -> list[Path]:
    """Takes files out of a tar or zip archive to a folder: one a pattern, in which ``*`` matches anything.

    Raises:
        ValueError: if no file matches a pattern, or several do, or a link.
    """
    found: dict[str, Path] = {}
    for name, source in _files(archive):
        for index, pattern in enumerate(patterns):
            if not fnmatch.fnmatchcase(name.removeprefix("./"), pattern):
                continue
            if source is None:
                raise ValueError(f"{archive}: {name} is a link: give the name of the file that it leads to")
            if pattern in found:
                raise ValueError(f"{archive} has more than one file {pattern}")
            found[pattern] = folder / f"{index}-{Path(name).name}"
            with found[pattern].open("wb") as file:
                shutil.copyfileobj(source, file)
    if missing := [pattern for pattern in patterns if pattern not in found]:
        raise ValueError(f"{archive} has no file {' nor '.join(missing)}")
    return [found[pattern] for pattern in patterns]


def _files(archive: Path) -> Iterator[tuple[str, IO[bytes] | None]]:
    """Names and contents, None of a link; each must be read before the next is asked for."""
    if archive.name.endswith(TARS):
        with tarfile.open(archive, "r|*") as tar:
            for member in tar:
                # A stream cannot go back to what a link leads to.
                if member.isfile() or member.issym() or member.islnk():
                    yield member.name, tar.extractfile(member) if member.isfile() else None
    else:
        with zipfile.ZipFile(archive) as container:
            for name in container.namelist():
                with container.open(name) as source:
                    yield name, source


_BLOCK = 1 << 18
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


class DownloadError(RuntimeError):
    """A file that could not be had whole; the message names it and says what to do."""


@dataclass(frozen=True)
class Patience:
    """How long to wait for a server."""

    attempts: int = 5  # connections in a row that bring nothing new before it is given up
    pause: float = 2.0  # seconds before the second of them; doubled for each further one
    timeout: float = 60.0  # seconds without a byte after which a connection counts as cut


def download(
    url: str,
    path: Path,
    *,
    patience: Patience | None = None,
    report: Callable[[int, int | None], None] = lambda done, size: None,
) -> Path:
    """Gets a file, or what is missing of it; does nothing if it is there.

    Args:
        url: where it is, http or https.
        path: where it goes.
        patience: with a server that breaks off.
        report: called with the bytes that are there and those of the whole file (None if unknown).

    Returns:
        `path`.

    Raises:
        DownloadError: if the server has no such file, breaks off again and again, or sends what is empty, cut off,
            or damaged. What was cut off stays for the next call, what is wrong goes.
    """
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    transfer = _Transfer(url, path, report)
    transfer.run(patience or Patience())
    try:
        require_whole(transfer.partial, path.name)
    except FileError as error:
        transfer.discard()
        raise DownloadError(f"{url}: what came is refused: {error}") from error
    transfer.partial.rename(path)
    transfer.version.unlink(missing_ok=True)
    return path


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


class _Transfer:
    """One file on its way: what is there of it, and what the server says of it."""

    def __init__(self, url: str, path: Path, report: Callable[[int, int | None], None]) -> None:
        self.url = url
        self.partial = Path(f"{path}.partial")
        self.version = Path(f"{path}.version")
        self.report = report
        self.size: int | None = None
        #: Whether it can go on: a server has to say which bytes it sends.
        self.resumes = True

    def run(self, patience: Patience) -> None:
        """Connects again and again until the whole file is there."""
        failures = 0
        while True:
            before = self._done()
            try:
                if self._receive(patience.timeout):
                    return
                reason = f"the connection was cut after {self._done()} of {self.size} bytes"
            except urllib.error.HTTPError as error:
                if error.code < 500 and error.code not in (408, 429):
                    raise DownloadError(f"{self.url}: the server answers {error.code} {error.reason}") from error
                reason = f"the server answers {error.code} {error.reason}"
            except (OSError, http.client.HTTPException) as error:
                reason = str(error) or type(error).__name__
            failures = 0 if self._done() > before else failures + 1
            if failures >= patience.attempts:
                goes_on = self._can_go_on()
                rest = f"{self.partial} is kept: call again to go on from there" if goes_on else "call again"
                raise DownloadError(f"{self.url}: {reason}; {rest}")
            time.sleep(patience.pause * 2 ** max(failures - 1, 0))

    def discard(self) -> None:
        """Deletes what has been downloaded so far."""
        self.partial.unlink(missing_ok=True)
        self.version.unlink(missing_ok=True)

    def _done(self) -> int:
        return self.partial.stat().st_size if self.partial.exists() else 0

    def _can_go_on(self) -> bool:
        """Whether there is something that the server has promised to complete."""
        return self._done() > 0 and self.resumes and self.version.exists()

    def _receive(self, timeout: float) -> bool:
        """Asks once for what is missing; True if the whole file is there."""
        request = urllib.request.Request(self.url, headers={"User-Agent": "fairseq-recurrent-mt"})
        start = self._done()
        if self._can_go_on():
            request.add_header("Range", f"bytes={start}-")
            request.add_header("If-Range", self.version.read_text(encoding="utf-8"))
        else:
            self.discard()
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                self._write(response, start)
        except urllib.error.HTTPError as error:
            if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise
            # Nothing is left to send, or the file has become shorter: one more request from its beginning tells.
            self.discard()
            return False
        return self.size is None or self._done() == self.size

    def _write(self, response: http.client.HTTPResponse, start: int) -> None:
        """Appends what the server sends, begins anew where it sends the whole file, and takes no other part of it."""
        resumed = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if response.status == http.client.PARTIAL_CONTENT and resumed and int(resumed[1]) == start:
            self.size = int(resumed[2])
        elif response.status == http.client.PARTIAL_CONTENT:
            # All further requests ask for the whole file: in turns with others, they would seem to bring something new.
            self.resumes = False
            self.discard()
            raise http.client.HTTPException("the server sends a part of the file, and does not say which part of what")
        else:
            start = 0
            length = response.headers.get("Content-Length")
            self.size = int(length) if length else None
            # Only a strong validator says that the bytes are the same.
            version = response.headers.get("ETag") or response.headers.get("Last-Modified")
            self.discard()
            if version and not version.startswith("W/"):
                self.version.write_text(version, encoding="utf-8")
        with self.partial.open("ab" if start else "wb") as file:
            while block := response.read(_BLOCK):
                file.write(block)
                self.report(file.tell(), self.size)
