"""Alignments: what each target token attends to, the links that follow, gold links, how well both agree.

Tables and drawings of them are in `alignment_figures.py`: what they need takes longer to load than everything here.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from ..subwords import END_OF_SENTENCE, merge_pieces, word_numbers
from ..text_files import FileError, read_lines
from .generate_log import TranslatedSentence, read_generate_log

LOG = logging.getLogger(__name__)

#: How far a target token's weights may be from 1 together, for each source token: printed weights are rounded.
ROUNDING = 1e-5


@dataclass(frozen=True)
class SoftAlignment:
    """A sentence pair with its weights."""

    number: int  # of the sentence, from 0
    source: tuple[str, ...]  # tokens, ``</s>`` included where the model has read one
    target: tuple[str, ...]  # likewise
    weights: np.ndarray  # (T, S), each row a distribution over the source

    def __post_init__(self) -> None:
        """Checks the weights.

        Raises:
            ValueError: if those of a target token are no distribution over the source.
        """
        sums = self.weights.sum(axis=1)
        wrong = (
            (np.abs(sums - 1) > 1e-4 + ROUNDING * len(self.source)) | np.any(self.weights < 0, axis=1) | np.isnan(sums)
        )
        if np.any(wrong):
            row = int(np.argmax(wrong))
            raise ValueError(f"the weights of target token {row} ({self.target[row]!r}) are no distribution")

    @classmethod
    def of_lists(
        cls, number: int, source: Sequence[str], target: Sequence[str], weights: list[list[float]]
    ) -> SoftAlignment:
        """An alignment whose weights are a list for each target token; errors as of the class."""
        return cls(number, tuple(source), tuple(target), np.array(weights, dtype=float))

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
        message = (
            "fairseq's own lstm mixes up the weights of padded batches: translate with --batch-size 1, and without "
            "--fp16 and --bf16, which round weights too much"
        )
        raise refuse(f"{place}: {error}; {message}") from error


#: (source word, target word), from 0.
Link = tuple[int, int]
LINK = re.compile(r"(\d{1,9})([-?])(\d{1,9})")


@dataclass(frozen=True)
class GoldLinks:
    """What people or a grammar linked in a sentence pair: the links that must be there, and all that may be there."""

    sure: frozenset[Link]
    possible: frozenset[Link]


def hard_links(alignment: SoftAlignment) -> frozenset[Link]:
    """Links each target word to the source word that it attends to most, the first of equals.

    ``</s>`` takes no part on either side, so that every target word has one link: as in fairseq's
    ``--print-alignment hard``.
    """
    if not alignment.source_words:
        return frozenset()
    best = alignment.weights[: alignment.target_words, : alignment.source_words].argmax(axis=1)
    return frozenset((source, target) for target, source in enumerate(best.tolist()))


def read_gold_links(path: str | PathLike[str]) -> list[GoldLinks]:
    """Reads links, the pairs of one sentence a line: ``0-0 1-2 2?1``, source first, from 0.

    A link with ``-`` is sure, one with ``?`` possible. In a file without ``?``, as the synthetic corpus's, every link
    is sure, and there are no other possible ones.

    Raises:
        FileError: naming the line of something else.
    """
    sentences = []
    for line, text in read_lines(path):
        sure, possible = set(), set()
        for word in text.split():
            match = LINK.fullmatch(word)
            if not match:
                raise FileError(path, f"expected links such as 0-0 or 2?1, but found {word!r}", line=line)
            link = int(match[1]), int(match[3])
            possible.add(link)
            if match[2] == "-":
                sure.add(link)
        sentences.append(GoldLinks(frozenset(sure), frozenset(possible)))
    return sentences


@dataclass(frozen=True)
class LinkScore:
    """Alignment error rate, over all sentences together, in percent (Och & Ney 2003, "A Systematic Comparison").

    With links A, sure links S and possible links P ⊇ S::

        AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)    precision = |A ∩ P| / |A|    recall = |A ∩ S| / |S|

    Without links the precision is 100, without sure ones the recall, without either the error rate is 0.
    """

    error_rate: float
    precision: float
    recall: float
    links: int
    sure_links: int


def score_links(alignments: Sequence[SoftAlignment], gold: Sequence[GoldLinks]) -> LinkScore:
    """Scores the hard links (see `hard_links`) of alignments of words against gold links of the same sentence pairs.

    Raises:
        ValueError: if there are not as many, or a gold link points to a word that a sentence does not have.
    """
    if len(alignments) != len(gold):
        raise ValueError(f"{len(alignments)} alignments, but gold links of {len(gold)} sentences")
    check_links(alignments, gold)
    found = sure = in_sure = in_possible = 0
    for alignment, expected in zip(alignments, gold):
        links = hard_links(alignment)
        found, sure = found + len(links), sure + len(expected.sure)
        in_sure, in_possible = in_sure + len(links & expected.sure), in_possible + len(links & expected.possible)
    return LinkScore(
        error_rate=100 * (1 - (in_sure + in_possible) / (found + sure)) if found + sure else 0.0,
        precision=100 * in_possible / found if found else 100.0,
        recall=100 * in_sure / sure if sure else 100.0,
        links=found,
        sure_links=sure,
    )


def check_links(alignments: Sequence[SoftAlignment], gold: Sequence[GoldLinks]) -> None:
    """Raises ValueError for a gold link to a word that a sentence does not have; logs if none is of a first word."""
    links = [link for expected in gold for link in expected.possible]
    if links and not any(0 in link for link in links):
        LOG.warning("no gold link has a 0: if they count words from 1, subtract 1 from every number, or AER is wrong")
    for alignment, expected in zip(alignments, gold):
        for source, target in sorted(expected.possible):
            if source >= alignment.source_words or target >= alignment.target_words:
                raise ValueError(
                    f"sentence {alignment.number} has {alignment.source_words} source and {alignment.target_words} "
                    f"target words, but a gold link {source}-{target}: are words counted from 0?"
                )


def measure_entropies(alignment: SoftAlignment) -> np.ndarray:
    """The entropy of each target word's weights, in bits: 0 for one source token alone, log2 S for all S alike.

    ``</s>`` counts as a source token, but not as a target word.

    Returns:
        (target words,).
    """
    weights = alignment.weights[: alignment.target_words]
    # A rounded row need not sum to 1.
    weights = weights / weights.sum(axis=1, keepdims=True)
    logarithms = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    return -(weights * logarithms).sum(axis=1) + 0.0
