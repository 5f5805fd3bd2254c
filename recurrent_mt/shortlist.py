"""A lexical shortlist: the few target words that the words of a source can become.

Jean et al. (2015), "On Using Very Large Target Vocabulary for Neural Machine Translation", section 3.2; Devlin (2017)
and Marian use it for speed. A file has a line for each source word: the word, a tab, and its target words, the most
frequent first, separated by spaces. The line of ``</s>``, which every source has, also names the words that any
translation may need.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike

import numpy as np

from .text_files import FileError, read_lines, write_text

#: What fairseq's dictionaries begin with, and a search asks for.
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
PAD, END = (SPECIAL.index(symbol) for symbol in ("<pad>", "</s>"))


def write_shortlist(path: str | PathLike[str], found: Mapping[str, Iterable[str]]) -> None:
    """Writes the target words of each source word."""
    write_text(path, "".join(f"{source}\t{' '.join(targets)}\n" for source, targets in found.items()))


class Shortlist:
    """The target words that translations may have.

    Args:
        lists: for each source word, by its number, the numbers of its target words.
    """

    def __init__(self, lists: Sequence[Sequence[int]]) -> None:
        self._allowed = np.full((len(lists), max(map(len, lists))), END)
        for number, words in enumerate(lists):
            self._allowed[number, : len(words)] = words

    @classmethod
    def read(cls, path: str | PathLike[str], source_words: Sequence[str], target_words: Sequence[str]) -> Shortlist:
        """Reads a file for the words of two dictionaries, in the order of their numbers.

        A source word without a line has the target word of its own spelling, if there is one.

        Raises:
            OSError: if the file cannot be read.
            FileError: naming the line with a word that the dictionaries lack.
        """
        numbers = [{word: number for number, word in enumerate(words)} for words in (source_words, target_words)]
        lists = [[numbers[1].get(word, END)] for word in source_words]
        for line, text in read_lines(path):
            word, _, targets = text.partition("\t")
            words = targets.split(" ")
            for known, side, named in zip(numbers, ("source", "target"), ([word], words)):
                unknown = next((one for one in named if one not in known), None)
                if unknown is not None:  # it may be empty, in a line without target words
                    message = f"{unknown!r} is not in the {side} dictionary: is this the shortlist of this model?"
                    raise FileError(path, message, line=line)
            lists[numbers[0][word]] = [numbers[1][one] for one in words]
        lists[END] += range(len(SPECIAL))
        lists[PAD] = [END]
        return cls(lists)

    def select(self, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The words of a batch's translations.

        Args:
            sources: (B, S) the numbers of source words, padded.

        Returns:
            (V',) the numbers of the words, increasing, of which the first are those of :data:`SPECIAL`; and (B, V')
            which of them each sentence may have.
        """
        numbers = self._allowed[sources].reshape(len(sources), -1)
        allowed = np.zeros((len(sources), self._allowed.max() + 1), dtype=bool)
        np.put_along_axis(allowed, numbers, True, axis=1)
        words = np.flatnonzero(allowed.any(axis=0))
        return words, allowed[:, words]
