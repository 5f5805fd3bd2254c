"""METEOR with nltk's matching of words, aggregated over a corpus as METEOR defines it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nltk
from nltk.corpus import wordnet as nltk_wordnet
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import _count_chunks, align_words
from sacrebleu import __version__ as sacrebleu_version
from sacrebleu.metrics import BLEU
from sacrebleu.metrics.base import Metric, Score, Signature
from sacrebleu.utils import sum_of_lists

#: Banerjee and Lavie's parameters, which are nltk's.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5


class NoSynonyms:
    """Turns off the synonym stage: no word has a synonym."""

    def synsets(self, word: str) -> Sequence[Any]:
        return ()


def installed_wordnet() -> Any:
    """WordNet from nltk if its data are on this machine, else None; nothing is ever downloaded."""
    try:
        nltk_wordnet.ensure_loaded()
    except LookupError:
        return None
    return nltk_wordnet


class METEOR(Metric):
    """METEOR of Banerjee and Lavie (2005), with the words matched by nltk.

    Words are matched in stages, each on what the earlier stages left: equal words, words with equal Porter stems, and
    synonyms if WordNet's data are installed; the signature lists the stages. nltk looks up the stems, so "house", whose
    stem is "hous", has no synonyms. Words are always lowercased, nltk's default. Porter's stemmer and WordNet are
    English: on other languages, the number is nltk's, not that of METEOR's own language packs. Even on English, it is
    not that of the METEOR 1.5 program, which has other parameters and paraphrases.

    A corpus is scored from the sums over its sentences of matches, words, and chunks, with P = matches / hypothesis
    words and R = matches / reference words: (1 − γ (chunks / matches)^β) · P R / (α P + (1 − α) R). For one sentence,
    that is nltk's ``single_meteor_score`` times 100. A sentence of n words scored against itself has one chunk, hence
    less than 100: 100 (1 − γ / n^β).

    As a sacrebleu metric, it has multiple references (the best one counts), resampling, and paired tests.
    """

    def __init__(self, tokenize: str | None = None) -> None:
        """Chooses the tokenization, one of sacrebleu's names for BLEU (None: its default, 13a)."""
        super().__init__()
        self.tokenizer = BLEU(tokenize=tokenize).tokenizer
        self.stemmer = PorterStemmer()
        self.wordnet = installed_wordnet()

    def get_signature(self) -> Signature:
        """Names the implementation: METEOR differs between programs by many points."""
        signature, stages = super().get_signature(), "exact+stem[porter]"
        if self.wordnet:
            stages += f"+synonym[wordnet-{self.wordnet.get_version()}]"
        parts = {
            "case": "lc",
            "tok": self.tokenizer.signature(),
            "stages": stages,
            "alpha": ALPHA,
            "beta": BETA,
            "gamma": GAMMA,
            "sacrebleu": sacrebleu_version,
        }
        signature.info |= {**parts, "version": f"nltk-{nltk.__version__}"}
        short = {"case": "c", "stages": "st", "alpha": "a", "beta": "b", "gamma": "g", "sacrebleu": "sb"}
        signature._abbr |= {name: short.get(name, name) for name in parts}
        return signature

    def _preprocess_segment(self, sent: str) -> str:
        return self.tokenizer(sent.rstrip())

    def _extract_reference_info(self, refs: Sequence[str]) -> dict[str, Any]:
        return {"references": [reference.split() for reference in refs]}

    def _compute_segment_statistics(self, hypothesis: str, ref_kwargs: dict[str, Any]) -> list[int]:
        words = hypothesis.split()
        counts = [self._count(words, reference) for reference in ref_kwargs["references"]]
        return max(counts, key=lambda numbers: self._compute_score_from_stats(numbers).score)

    def _count(self, hypothesis: list[str], reference: list[str]) -> list[int]:
        synonyms = self.wordnet or NoSynonyms()
        matches, _, _ = align_words(hypothesis, reference, stemmer=self.stemmer, wordnet=synonyms)
        # nltk counts one chunk if nothing matches; over a corpus, that would add to the penalty of other sentences.
        chunks = _count_chunks(matches) if matches else 0
        return [len(matches), len(hypothesis), len(reference), chunks]

    def _compute_score_from_stats(self, stats: Sequence[float]) -> Score:
        # Double precision and nltk's order of operations, so that one sentence gets nltk's number to the last bit.
        matches, hypothesis_words, reference_words, chunks = map(float, stats)
        precision = recall = penalty = mean = 0.0
        if matches:
            precision, recall = matches / hypothesis_words, matches / reference_words
            mean = (precision * recall) / (ALPHA * precision + (1 - ALPHA) * recall)
            penalty = GAMMA * (chunks / matches) ** BETA
        score = Score("METEOR", 100 * ((1 - penalty) * mean))
        score._verbose = f"(P = {100 * precision:.1f} R = {100 * recall:.1f} penalty = {penalty:.3f})"
        return score

    def _aggregate_and_compute(self, stats: Sequence[Sequence[float]]) -> Score:
        return self._compute_score_from_stats(sum_of_lists(stats))
