"""Text as fairseq sees it: words outside the dictionary are ``<unk>``, and a sentence ends with ``</s>``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from .numbered_lines import numbered_lines

END, UNKNOWN = "</s>", "<unk>"


class TrainingText:
    """The sentences of one or more files, as lists of words, which can be gone through again and again.

    Skip-gram thus learns a vector for the end of a sentence, which a model reads and writes like a word, and one for
    the unknown word, from the places where unknown words stand.

    Args:
        paths: text, tokenised and segmented as for fairseq-preprocess, one sentence a line.
        known: the words that stay themselves; all others become ``<unk>``.
    """

    def __init__(self, paths: Sequence[Path], known: frozenset[str]) -> None:
        self.paths = paths
        self.known = known

    def __iter__(self) -> Iterator[list[str]]:
        for words in sentences(self.paths):
            yield [word if word in self.known else UNKNOWN for word in words] + [END]


def sentences(paths: Sequence[Path]) -> Iterator[list[str]]:
    """Yields the words of each line that has any.

    Raises:
        ValueError: naming the file and a line that is not UTF-8.
    """
    for path in paths:
        for _, line in numbered_lines(path):
            words = line.split()
            if words:
                yield words


def frequent_words(paths: Sequence[Path], min_count: int) -> frozenset[str]:
    """The words that occur at least so often in all files together.

    Raises:
        ValueError: if there are none.
    """
    counts = Counter(word for words in sentences(paths) for word in words)
    known = frozenset(word for word, count in counts.items() if count >= min_count)
    if not known:
        raise ValueError(f"no word occurs {min_count} times or more in {', '.join(map(str, paths))}")
    return known


def dictionary_words(path: Path) -> frozenset[str]:
    """The words of a dictionary that fairseq-preprocess wrote, ``word count`` a line.

    Raises:
        ValueError: naming the file and the line, if it is anything else.
    """
    words = set()
    for number, line in numbered_lines(path):
        # A word may be '#fairseq:overwrite' itself only as the first field.
        word, *rest = line.removesuffix(" #fairseq:overwrite").split(" ")
        if not word or len(rest) != 1 or not rest[0].isdigit():
            raise ValueError(f"{path}:{number}: expected a word and its count, as in fairseq's dictionaries: {line!r}")
        words.add(word)
    return frozenset(words)
