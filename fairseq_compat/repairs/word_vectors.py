"""Reads files of word vectors with and without a header line, and refuses vectors that would spoil a model.

fairseq 0.12.2 skips the first line, whatever it is: in GloVe's files, which have no header, that is the most frequent
word. It stops at a word with a space in it, as GloVe has some, takes vectors that are not finite, after which training
fails with advice about ``--lr``, and spreads a single number over a whole embedding.
"""

import re

import torch

from ..replacements import in_place_of


@in_place_of("fairseq.utils", "parse_embedding")
def parse_embedding(embed_path):
    """Read the vectors of a text file, ``word x1 x2 …`` a line, all of one size.

    A first line of two whole numbers is a header: how many vectors follow, and of how many numbers. A word that is
    there twice keeps its first vector. A word may contain spaces; no token is equal to it.

    Raises:
        ValueError: naming the file and the line of what is no such vector, or not finite; or the file if it is cut off.
    """
    vectors: dict[str, torch.Tensor] = {}
    size = announced = None
    number = 0
    # As bytes: words may contain other characters that Python takes for the end of a line.
    with open(embed_path, "rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
                if re.fullmatch(rb"\d+ \d+\s*", line):
                    announced, size = map(int, line.split())
                    continue
            try:
                word, vector = _read_line(line.decode("utf-8"), size)
            except ValueError as error:
                raise ValueError(f"{embed_path}, line {number}: {error}") from None
            size = len(vector)
            vectors.setdefault(word, vector)
    if not vectors or announced not in (None, number - 1):
        raise ValueError(f"{embed_path}: the file is not complete: {len(vectors)} vectors, of {announced or 'any'}")
    return vectors


def _read_line(line, size):
    """The word of a line and its vector, of `size` numbers, or of any size if that is None."""
    fields = line.rstrip().split(" ")
    place = 1 if size is None else len(fields) - size
    if place < 1 or len(fields) < 3 or (place > 1 and re.fullmatch(r"[-+.\deE]*\d", fields[place - 1])):
        raise ValueError(f"{len(fields) - 1} numbers after {fields[0]!r}, not {size or 'at least two'}")
    vector = torch.tensor([float(field) for field in fields[place:]])
    if not vector.isfinite().all():
        raise ValueError(f"the vector of {fields[0]!r} has a number that is not finite")
    return " ".join(fields[:place]), vector
