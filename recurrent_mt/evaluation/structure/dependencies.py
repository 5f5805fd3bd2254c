"""Gold phrases of dependency treebanks: each word with all that depends on it, from CoNLL-U files."""

from __future__ import annotations

import re
from itertools import groupby
from os import PathLike

from ...text_files import FileError, read_lines
from .trees import GoldTree

#: Columns of a word (universaldependencies.org/format.html), which has ten.
COLUMNS, ID, FORM, HEAD = 10, 0, 1, 6
#: The number of a word, of several in one, as 3-4, or of one that the text does not have, as 3.1.
NUMBER = re.compile(r"\d+([-.]\d+)?", re.ASCII)


def read_dependency_trees(path: str | PathLike[str]) -> list[GoldTree]:
    """Reads a file of sentences, each with its words and the phrases of their heads.

    Words are those of the text: ``du`` is one, where the treebank has ``de`` and ``le``. A phrase is a word with all
    that depends on it, if that is a span of at least two words; where others stand between them (a crossing), it is
    none.

    Raises:
        FileError: naming the line that is no word, or has no head.
    """
    rows = ((line, text.split("\t")) for line, text in read_lines(path) if not text.startswith("#"))
    # An empty line ends a sentence.
    sentences = groupby(rows, lambda row: row[1] != [""])
    return [make_tree(path, list(sentence)) for has_words, sentence in sentences if has_words]


def make_tree(path: str | PathLike[str], rows: list[tuple[int, list[str]]]) -> GoldTree:
    """The words and phrases of one sentence, of the rows of its file with the numbers of their lines."""
    words, places, heads = [], dict[str, int](), dict[str, str]()
    covered = 0  # up to which word the last contraction goes
    for line, row in rows:
        if len(row) != COLUMNS or not NUMBER.fullmatch(row[ID]):
            found = f"{len(row)} columns that begin with {row[ID]!r}"
            raise FileError(
                path, f"{found}, not {COLUMNS} that begin with the number of a word: is this CoNLL-U?", line=line
            )
        start, contraction, end = row[ID].partition("-")
        if "." in start:  # an empty node, which no text has
            continue
        if contraction:
            covered = int(end)
            words.append(row[FORM])
            places |= {str(number): len(words) - 1 for number in range(int(start), covered + 1)}
            continue
        if int(start) > covered:
            words.append(row[FORM])
            places[start] = len(words) - 1
        heads[start] = row[HEAD]
    below = {word: {place} for word, place in places.items()}
    for word in heads:
        above = word
        for _ in heads:  # a chain of heads is no longer than that
            above = heads.get(above, "0")
            if above == "0":
                break
            if above not in below:
                raise FileError(path, f"word {word} depends on {above}, which is not there", line=rows[0][0])
            below[above].add(places[word])
    phrases = ((min(group), max(group) + 1, len(group)) for group in below.values())
    spans = frozenset((start, end) for start, end, count in phrases if end - start == count > 1)
    return GoldTree(tuple(words), spans | ({(0, len(words))} if len(words) > 1 else frozenset()))
