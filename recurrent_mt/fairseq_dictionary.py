"""Reads the dictionaries that fairseq-preprocess writes (``dict.LANG.txt``)."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

from .text_files import FileError, read_lines

#: May follow a count: the entry replaces an earlier one of the same word.
OVERWRITE = " #fairseq:overwrite"
#: Entries without a word, which fairseq-preprocess adds to round the size up to a multiple.
PADDING = re.compile(r"madeupword\d{4,}")
COUNT = re.compile(r"[0-9]{1,18}")


def dictionary_folder(data: str | PathLike[str]) -> Path:
    """The part of a folder of binarized data that has the dictionaries: its first shard, if it is in shards."""
    shard = Path(data) / "shard0"
    return shard if shard.is_dir() else Path(data)


def read_dictionary(path: str | PathLike[str]) -> dict[str, int]:
    """The words of a dictionary and how often each was counted, in the dictionary's order.

    Every entry is a word but the padding (``madeupword0000`` …), whatever its count. fairseq's special symbols are not
    in the file unless the text contained them.

    Raises:
        FileError: if the file is missing, and at the first line that is not a word and a count.
    """
    words = {}
    for number, text in read_lines(path):
        # As fairseq, from the right: what comes before the last space is the word.
        word, _, count = text.removesuffix(OVERWRITE).rpartition(" ")
        if not (word and COUNT.fullmatch(count)):
            message = f"expected a word and its count, as in fairseq's dictionaries, not {text[:80]!r}"
            raise FileError(path, message, line=number)
        if not PADDING.fullmatch(word):
            words[word] = int(count)
    return words
