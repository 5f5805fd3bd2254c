"""How much more a sentence pair resembles one domain than the whole corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..characters import normalize
from .ngrams import FIRST_WORD, UNKNOWN, NgramModel
from .parallel_text import Block
from .words import lowercase_tokens

# Rarer words of the domain are as unknown to its model as those it has never seen.
_MIN_COUNT = 2


def tokenize_lines(lines: Iterable[bytes]) -> list[list[str]]:
    """Tokenizes raw lines as the language model expects them."""
    return [lowercase_tokens(normalize(line.decode(errors="replace"))) for line in lines]


class LanguageScorer:
    """The difference of cross-entropies of one side (Moore and Lewis 2010).

    Both models know the same words, those that occur twice in the domain: what the domain never says must not look
    cheaper to one of them. They learn from tokens of the domain's sentences and of a sample of the corpus.

    Raises:
        ValueError: no word occurs twice in the domain.
    """

    def __init__(self, domain: Sequence[Sequence[str]], general: Sequence[Sequence[str]]) -> None:
        counts = Counter(token for sentence in domain for token in sentence)
        frequent = sorted(token for token, count in counts.items() if count >= _MIN_COUNT)
        if not frequent:
            raise ValueError(f"no word occurs {_MIN_COUNT} times in the in-domain text: give more of it")
        self._numbers = {token: number for number, token in enumerate(frequent, start=FIRST_WORD)}
        self.vocabulary_size = len(frequent)
        self._domain, self._general = (
            NgramModel(self._numbered(sentences), FIRST_WORD + len(frequent)) for sentences in (domain, general)
        )

    def differences(self, sentences: Sequence[Sequence[str]]) -> np.ndarray:
        """H_domain − H_general in bits a word, ends of sentences counted as words (sentences,)."""
        numbered = self._numbered(sentences)
        lengths = np.array([len(sentence) + 1 for sentence in numbered])
        return (self._general.log_probabilities(numbered) - self._domain.log_probabilities(numbered)) / lengths

    def _numbered(self, sentences: Iterable[Sequence[str]]) -> list[list[int]]:
        get = self._numbers.get
        return [[get(token, UNKNOWN) for token in sentence] for sentence in sentences]


class ScoredBlock(NamedTuple):
    """Scores of the pairs of a block."""

    scores: np.ndarray  # float32, the lower, the more like the domain
    words: np.ndarray  # uint32, tokens of the source
    progress: float  # as the block has it


def score_block(block: Block, source: LanguageScorer, target: LanguageScorer) -> ScoredBlock:
    """Adds the differences of both sides (Axelrod, He and Gao 2011)."""
    source_tokens, target_tokens = tokenize_lines(block.source), tokenize_lines(block.target)
    scores = source.differences(source_tokens) + target.differences(target_tokens)
    return ScoredBlock(scores.astype("<f4"), np.array([len(line) for line in source_tokens], "<u4"), block.progress)
