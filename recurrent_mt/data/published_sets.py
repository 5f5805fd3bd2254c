"""Published parallel corpora by their mtdata ids: where they are, how they are packed, and their sentence pairs.

The library mtdata knows addresses, the files within archives and their formats. Its own downloads begin anew when they
break off, are not compared with any checksum, and accept a host whose certificate fails; so the bytes come by
`download`, and mtdata reads them. Its index takes a quarter of a minute and 140 MB of cache to make: what is needed is
looked up once and kept as JSON.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from ..languages import three_letter_code
from ..text_files import OPENERS, write_text
from .download import download, extract
from .parallel_text import one_line

#: What is not read here, for mtdata loses text of it without a word: of TMX what follows a tag within a segment, all
#: that is not UTF-8, and every file in a namespace; of WMT's XML what follows a tag. None of the recipes has any.
_NOT_READ = ("opus_xces", "tmx", "wmt21xml")
_SEGMENT = re.compile(rb"<seg\b", re.IGNORECASE)


@dataclass(frozen=True)
class PublishedSet:
    """A parallel corpus that mtdata knows."""

    identifier: str  # mtdata's, ``GROUP-NAME-VERSION-LANGUAGE-LANGUAGE``; the languages are in the order of the text
    url: str  # of the one file that holds both sides
    members: list[str] | None  # patterns of the two files in it, None where it is no archive
    format: str  # mtdata's name for how the sentences are written: txt, tsv, sgm, tmx …
    columns: list[int] | None  # of the two sides, in a table; None for the first two

    def __post_init__(self) -> None:
        if not self.url.startswith("http") or any(form in self.format for form in _NOT_READ):
            raise ValueError(
                f"{self.identifier}: text in {self.format} is not read here: write it to two files, one sentence a "
                "line, and name them in its place"
            )

    @property
    def languages(self) -> list[str]:
        """Three-letter codes, in the order of the text."""
        return [code.split("_")[0] for code in self.identifier.split("-")[3:]]


def look_up(identifiers: list[str]) -> list[PublishedSet]:
    """Finds corpora in mtdata's index.

    Raises:
        ValueError: if mtdata does not know one, or knows it in several files or in a form that is not read here.
    """
    with tempfile.TemporaryDirectory() as folder:
        # mtdata reads this when it is imported. Its cache of the index is written in place: cut off, it would stay so.
        os.environ["MTDATA"] = folder
        from mtdata.entry import DatasetId
        from mtdata.index import INDEX

        found = []
        for identifier in identifiers:
            key = DatasetId.parse(identifier)
            if key not in INDEX:
                raise ValueError(
                    f"mtdata knows no corpus {identifier}; its command `mtdata list -id` prints all it knows"
                )
            entry = INDEX[key]
            if not isinstance(entry.url, str):
                raise ValueError(f"{identifier}: only corpora in one file are read here")
            columns = list(entry.cols) if entry.cols else None
            found.append(PublishedSet(str(entry.did), entry.url, entry.in_paths, entry.in_ext or entry.ext, columns))
    return found


def save(sets: list[PublishedSet], path: Path) -> None:
    """Writes them as JSON, whole or not at all."""
    write_text(path, json.dumps([asdict(one) for one in sets], indent=1) + "\n")


def load(path: Path, identifier: str) -> PublishedSet:
    """One of those that `save` wrote.

    Raises:
        ValueError: if it is not among them.
    """
    for record in json.loads(path.read_text(encoding="utf-8")):
        if record["identifier"] == identifier:
            return PublishedSet(**record)
    raise ValueError(f"{path} has no corpus {identifier}")


def fetch(corpus: PublishedSet, folder: Path, mirror: str | None = None) -> Path:
    """Downloads a corpus to ``FOLDER/HOST/PATH``; several corpora may lie in one file, which comes once.

    A mirror is an address that has the files under ``MIRROR/HOST/PATH``; errors as of `download`.
    """
    address = urlsplit(corpus.url)
    place = f"{address.netloc}{address.path}"
    if not address.netloc or ".." in place.split("/"):
        raise ValueError(f"{corpus.url} leads out of the folder of downloads: an address has a host, and no '..'")
    url = f"{mirror.rstrip('/')}/{place}" if mirror else corpus.url
    return download(url, folder / place)


def sentence_pairs(corpus: PublishedSet, file: Path, languages: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """The pairs of a downloaded corpus, one line a sentence, sides in the order of `languages`.

    Raises:
        ValueError: if the sides differ in length, the corpus has other languages, or the archive lacks a file.
    """
    wanted = [three_letter_code(language) for language in languages]
    if sorted(wanted) != sorted(corpus.languages):
        raise ValueError(f"{corpus.identifier} is not a corpus of {languages[0]} and {languages[1]}")
    swap = wanted != corpus.languages
    # Of a known name, so that a run that was killed leaves nothing that the next one does not clear away.
    folder = Path(f"{file}.unpacked")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        paths = extract(file, corpus.members, folder) if corpus.members else [file]
        for pair in _read(corpus, paths):
            left, right = (one_line(text) for text in pair[:2])
            yield (right, left) if swap else (left, right)
    finally:
        shutil.rmtree(folder)


def _read(corpus: PublishedSet, paths: list[Path]) -> Iterator[list[str]]:
    """What mtdata reads from the files; outside of XML, bytes that are not UTF-8 come as U+FFFD."""
    from mtdata.entry import Entry
    from mtdata.parser import Parser
    from mtdata.utils import COMPRESSORS

    # Of compressed text alone, mtdata takes a lone carriage return for the end of a line.
    COMPRESSORS.update({ending: partial(opener, newline="\n") for ending, opener in OPENERS.items()})
    # An Entry of an archive wants the names in it, which matter no more here.
    entry = Entry(corpus.identifier, url=corpus.url, ext=corpus.format, cols=corpus.columns)
    number = 0
    try:
        require_all_segments(corpus, paths)
        for pair in Parser(paths, ext=corpus.format, ent=entry).read_segs(show_pbar=False):
            yield pair
            number += 1
    except (OSError, ValueError):
        raise
    except Exception as error:  # mtdata raises nothing narrower; of a line with too few columns, an IndexError
        raise ValueError(f"{corpus.identifier}: after {number:,} pairs: {error}") from error


def require_all_segments(corpus: PublishedSet, paths: list[Path]) -> None:
    """Refuses SGM of which mtdata, which reads a line at a time, would leave out segments without a word.

    Where a line is skipped on either side, sentences no longer translate each other.

    Raises:
        ValueError: naming the file, and how many segments it has.
    """
    from mtdata.sgm import read_sgm

    if "sgm" not in corpus.format:
        return
    for name, path in zip(corpus.members or [corpus.url], paths, strict=True):
        with OPENERS.get(path.suffix, open)(path, "rb") as file:
            count = sum(len(_SEGMENT.findall(line)) for line in file)
        read = sum(1 for _ in read_sgm(path))
        if read != count:
            raise ValueError(
                f"{corpus.identifier}: of the {count:,} segments of {name}, only {read:,} are on a line of their own, "
                'as <seg id="1">text</seg>; others would be lost: leave this corpus out'
            )
