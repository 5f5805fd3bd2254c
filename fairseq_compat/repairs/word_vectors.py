"""Reads files of word vectors with and without a header line.

fairseq 0.12.2 skips the first line, whatever it is: in GloVe's files, which have no header, that is the most frequent
word. It stops at a word with a space in it, as GloVe has some.
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
        ValueError: naming the file and the line of what is no such vector.
    """
    vectors: dict[str, torch.Tensor] = {}
    size = None
    # As bytes: words may contain other characters that Python takes for the end of a line.
    with open(embed_path, "rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
                if re.fullmatch(rb"\d+ \d+\s*", line):
                    size = int(line.split()[1])
                    continue
            try:
                fields = line.decode("utf-8").rstrip().split(" ")
                size = size or len(fields) - 1
                vector = torch.tensor([float(field) for field in fields[-size:]])
            except ValueError as error:
                raise ValueError(f"{embed_path}, line {number}: {error}") from None
            vectors.setdefault(" ".join(fields[:-size]), vector)
    return vectors
