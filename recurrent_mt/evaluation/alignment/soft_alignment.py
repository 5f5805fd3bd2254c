"""Soft alignments, how much each target token attends to each source token: read, checked, merged to words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from ...subwords import END_OF_SENTENCE, merge_pieces, word_numbers
from ...text_files import FileError, read_sentence_records
from ..generate_log import TranslatedSentence, read_generate_log

#: How far a target token's weights may be from 1 together, for each source token: printed weights are rounded.
ROUNDING = 1e-5
FIELDS = {"sentence": int, "source": list, "target": list, "weights": list}


@dataclass(frozen=True)
class SoftAlignment:
    """A sentence pair with its weights."""

    number: int  # of the sentence, from 0
    source: tuple[str, ...]  # tokens, ``</s>`` included where the model has read one
    target: tuple[str, ...]  # likewise
    weights: np.ndarray  # (T, S), each row a distribution over the source

    def __post_init__(self) -> None:
        """Checks shape and weights.

        Raises:
            ValueError: if they are not one distribution over the source for each target token.
        """
        if not all(isinstance(token, str) for token in (*self.source, *self.target)):
            raise ValueError("source and target are no tokens")
        shape = (len(self.target), len(self.source))
        if self.weights.shape != shape:
            raise ValueError(
                f"{shape[0]} target and {shape[1]} source tokens, but weights of shape {self.weights.shape}"
            )
        sums = self.weights.sum(axis=1)
        wrong = (np.abs(sums - 1) > 1e-4 + ROUNDING * shape[1]) | np.any(self.weights < 0, axis=1) | np.isnan(sums)
        if np.any(wrong):
            row = int(np.argmax(wrong))
            raise ValueError(f"the weights of target token {row} ({self.target[row]!r}) are no distribution")

    @property
    def source_words(self) -> int:
        """How many source tokens come before ``</s>``."""
        return len(self.source) - (self.source[-1:] == (END_OF_SENTENCE,))

    @property
    def target_words(self) -> int:
        """How many target tokens come before ``</s>``."""
        return len(self.target) - (self.target[-1:] == (END_OF_SENTENCE,))

    def merged(self, segmentation: str | None) -> SoftAlignment:
        """The alignment of words: summed over the pieces of a source word, averaged over those of a target word.

        Each row stays a distribution. The segmentation is ``bpe``, ``sentencepiece``, or None to change nothing.
        """
        if segmentation is None:
            return self
        source, target = word_numbers(self.source, segmentation), word_numbers(self.target, segmentation)
        from_pieces = membership(source)  # (S words, S pieces)
        to_words = membership(target)  # (T words, T pieces)
        to_words = to_words / np.maximum(to_words.sum(axis=1, keepdims=True), 1)
        return SoftAlignment(
            self.number,
            tuple(merge_pieces(self.source, source, segmentation)),
            tuple(merge_pieces(self.target, target, segmentation)),
            to_words @ self.weights @ from_pieces.T,
        )


def membership(numbers: Sequence[int]) -> np.ndarray:
    """(words, pieces): 1 where a piece belongs to a word, whose numbers are given for each piece."""
    words = np.arange(numbers[-1] + 1 if numbers else 0)
    return (words[:, None] == np.array(numbers, dtype=int)[None, :]).astype(float)


def read_alignment_log(path: str | PathLike[str]) -> list[SoftAlignment]:
    """The alignments of the best translations in a log of ``fairseq-generate --print-alignment soft``.

    The log must hold the tokens as the model saw them: with ``--post-process`` (``--remove-bpe``) fairseq prints words,
    but weights of their pieces.

    Raises:
        FileError: if the log is damaged, or a sentence has no soft alignment or one of other tokens.
    """
    return [read_logged_alignment(path, sentence) for sentence in read_generate_log(path).sentences]


def read_logged_alignment(path: str | PathLike[str], sentence: TranslatedSentence) -> SoftAlignment:
    """The alignment of the best translation of one sentence; see `read_alignment_log`."""

    def refuse(message: str) -> FileError:
        return FileError(path, message, line=sentence.line)

    place = f"sentence {sentence.number}"
    hypothesis = sentence.hypotheses[0]
    if sentence.source is None or hypothesis.alignment is None:
        raise refuse(f"{place} has no S or no A line: translate with --print-alignment soft")
    source = (*sentence.source.split(), END_OF_SENTENCE)
    target = (*hypothesis.tokens.split(), END_OF_SENTENCE)
    try:
        weights = np.array([row.split(",") for row in hypothesis.alignment.split()], dtype=float)
    except ValueError as error:
        message = f"the A line of {place} is no soft alignment: translate with --print-alignment soft"
        raise refuse(message) from error
    if weights.shape != (len(target), len(source)):
        raise refuse(
            f"{place} has {len(target)} target and {len(source)} source tokens, </s> included, but weights of shape "
            f"{weights.shape}: translate without --post-process (--remove-bpe), merge pieces here"
        )
    try:
        return SoftAlignment(sentence.number, source, target, weights)
    except ValueError as error:
        message = "fairseq's own lstm mixes up the weights of padded batches: translate with --batch-size 1"
        raise refuse(f"{place}: {error}; {message}") from error


def read_alignment_lines(path: str | PathLike[str]) -> list[SoftAlignment]:
    """Reads what :func:`user_dir.checkpoints.inspection.forced_alignments` found, one sentence a line.

    Raises:
        FileError: naming the line that is no alignment or not the next sentence.
    """

    def make(record: dict[str, Any]) -> SoftAlignment:
        source, target = tuple(record["source"]), tuple(record["target"])
        weights = np.array(record["weights"], dtype=float).reshape(len(target), -1)
        return SoftAlignment(record["sentence"], source, target, weights)

    return read_sentence_records(path, FIELDS, make)
