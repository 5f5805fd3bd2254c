"""Reads files of word vectors with and without a header line, and refuses vectors that would spoil a model.

fairseq 0.12.2 skips the first line, whatever it is: in GloVe's files, which have no header, that is the most frequent
word. It takes vectors that are not finite, after which training fails with advice about ``--lr``, spreads a single
number over a whole embedding, and shows a line that it cannot read without its file.
"""

import logging
import re

from ..replacements import around, in_place_of

logger = logging.getLogger(__name__)


@around("fairseq.utils", "load_embedding")
def load_embedding(load, embed_dict, vocab, embedding):
    """Compare sizes before vectors are copied."""
    needed = embedding.embedding_dim
    if isinstance(embed_dict, WordVectors) and embed_dict and embed_dict.size != needed:
        raise ValueError(
            f"{embed_dict.path}: its vectors have {embed_dict.size} numbers, and the model's embeddings {needed}: "
            "change the size of the embeddings, or take another file"
        )
    return load(embed_dict, vocab, embedding)


class WordVectors(dict):
    """Vectors by word, with the file's `path` and their `size`, None if there are none."""

    def __init__(self, path, size):
        super().__init__()
        self.path = path
        self.size = size


@in_place_of("fairseq.utils", "parse_embedding")
def parse_embedding(embed_path):
    """Read the vectors of a text file, ``word x1 x2 …`` a line.

    A first line of two whole numbers is a header: how many vectors follow, and of how many numbers. A word that is
    there twice keeps its first vector. A word may contain spaces, as some of GloVe's do; no token is equal to it.

    Raises:
        ValueError: naming the file and the line, for a vector of another size, one that is not finite, and a header
            that does not fit what follows.
    """
    vectors, repeated, announced, number = WordVectors(embed_path, None), 0, None, 0
    # As bytes: words may contain other characters that Python takes for the end of a line.
    with open(embed_path, "rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
                if re.fullmatch(rb"\d+ \d+\s*", line):
                    announced, vectors.size = map(int, line.split())
                    continue
            try:
                word, vector = _read_line(line.decode("utf-8"), vectors.size)
            except ValueError as error:
                raise ValueError(f"{embed_path}, line {number}: {error}") from None
            vectors.size = len(vector)
            repeated += word in vectors
            vectors.setdefault(word, vector)
    found = number - (announced is not None)
    if not vectors:
        raise ValueError(f"{embed_path}: there are no vectors in it")
    if announced is not None and found != announced:
        raise ValueError(
            f"{embed_path}: its first line says {announced} vectors, and {found} follow: the file is not complete, or "
            "the first line is to be removed"
        )
    if repeated:
        logger.warning("%s: %d words are there more than once; each keeps its first vector", embed_path, repeated)
    return vectors


def _read_line(line, size):
    """The word of a line and its vector, of `size` numbers, or of any size if that is None."""
    import torch

    fields = line.rstrip().split(" ")
    count = len(fields) - 1 if size is None else size
    place = len(fields) - count
    word = " ".join(fields[:place])
    if count < 1 or place < 1 or (place > 1 and _is_number(fields[place - 1])):
        wanted = "at least one" if size is None else f"{size} as in the lines before"
        raise ValueError(f"{len(fields) - 1} numbers after {fields[0]!r}, not {wanted}")
    vector = torch.tensor([float(field) for field in fields[place:]])
    if not vector.isfinite().all():
        raise ValueError(f"the vector of {word!r} has a number that is not finite")
    return word, vector


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
