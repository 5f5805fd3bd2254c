"""Scores, and the counts per sentence that sum up to them: many subsets of one test set are scored from these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics import BLEU
from sacrebleu.metrics.base import Metric, Signature
from sacrebleu.metrics.base import Score as SacrebleuScore
from sacrebleu.significance import estimate_ci

from ..characters import join_chinese, normalize
from ..ordered_map import ordered_map
from .builders import METRICS, choose_tokenization

SEED = 12345
"""sacrebleu's default, so that resampled numbers are the same as those of its command."""

SLOW = {"meteor", "ter"}
"""Metrics that take milliseconds per sentence, so that several processes pay off."""

_BLOCK = 100


@dataclass(frozen=True)
class Interval:
    """The 95% confidence interval of this project, sacrebleu's: ``mean`` ± ``half_width``.

    The mean is that of the resampled scores, not the score itself, and the width that between the percentiles 2.5 and
    97.5.
    """

    mean: float
    half_width: float

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width


@dataclass(frozen=True)
class Score:
    """A corpus score with its interval and signature."""

    name: str  # the metric as printed, for example ``BLEU`` or ``chrF2``
    value: float  # the score itself, unrounded
    signature: str  # everything that determines the number: references, case, tokenization, version
    interval: Interval | None = None  # None unless resampling was requested
    details: str = ""  # anything else the metric reports, such as n-gram precisions; empty if nothing

    def __str__(self) -> str:
        """One line, as printed by sacrebleu's command."""
        spread = f" (μ = {self.interval.mean:.2f} ± {self.interval.half_width:.2f})" if self.interval else ""
        details = f" {self.details}" if self.details else ""
        return f"{self.name}|{self.signature} = {self.value:.2f}{spread}{details}"


@dataclass(frozen=True, eq=False)
class SentenceStatistics:
    """The sufficient statistics of a system's sentences under one metric."""

    metric: Metric  # sacrebleu's metric, as configured; knows what a row means
    rows: np.ndarray  # (N, K), one row per sentence. A subset's score is a function of the sum of its rows.
    #: whether more than spaces was made regular before counting: sacrebleu by itself has another score for such text
    normalized: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, sentences: Sequence[int] | np.ndarray) -> SentenceStatistics:
        """The statistics of some sentences only: their indices from 0, or N booleans."""
        chosen = np.asarray(sentences)
        # An empty list has no type for numpy to index with.
        return SentenceStatistics(
            self.metric, self.rows[chosen if chosen.size else chosen.astype(int)], self.normalized
        )

    def sign(self) -> Signature:
        signature = self.metric.get_signature()
        signature.update("text", "normalized" if self.normalized else None)
        return signature

    def score(self, *, resamples: int = 0, seed: int = SEED) -> Score:
        """The score of these sentences as one corpus.

        Args:
            resamples: bootstrap resamples for a confidence interval; 0 for none. A single sentence has no spread for
                resampling to show, and therefore no interval.
            seed: seed of the resampling.

        Raises:
            ValueError: if there are no sentences, or if the number of resamples gives no interval.
        """
        check_resamples(resamples)
        if not len(self):
            raise ValueError(f"{type(self.metric).__name__}: there are no sentences to score")
        result = self.score_of_sum(self.rows.sum(axis=0).tolist())
        signature = self.sign()
        interval = None
        if resamples and len(self) > 1:
            interval = estimate_interval(self.score_sums(self.resampled_sums(resamples, seed)))
            signature.update("bs", resamples)
            signature.update("seed", seed)
        return Score(result.name, float(result.score), str(signature), interval, result._verbose)

    def score_of_sum(self, total: Sequence[float] | np.ndarray) -> SacrebleuScore:
        """The sacrebleu score object for a sum of rows (K,); the number is its attribute ``score``."""
        # As Python's numbers: with single precision's, numpy 2 would compute the score in it, too.
        return self.metric._compute_score_from_stats(list(map(float, total)))

    def score_sums(self, sums: np.ndarray) -> np.ndarray:
        """The scores (M,) of sums of rows (M, K)."""
        return np.array([self.score_of_sum(total).score for total in sums])

    def score_sentences(self) -> list[float]:
        """The score of each sentence by itself."""
        return self.score_sums(self.rows).tolist()

    def resampled_sums(self, resamples: int, seed: int = SEED) -> np.ndarray:
        """Sums (resamples, K) of rows over corpora of N sentences drawn with replacement.

        The draws depend only on seed and N: systems are resampled alike, and the same way as with sacrebleu's
        ``--confidence``.
        """
        count = len(self)
        generator = np.random.default_rng(seed)
        # How often each sentence is drawn, times the rows: there are never (resamples, N, K) numbers in memory.
        draws = (np.bincount(generator.choice(count, size=count), minlength=count) for _ in range(resamples))
        # Sums in single precision, like sacrebleu's.
        return np.array([times @ self.rows for times in draws]).astype(np.float32)


def estimate_interval(resampled: np.ndarray) -> Interval:
    """The interval of scores (resamples,) on sentences drawn with replacement."""
    return Interval(*map(float, estimate_ci(resampled)))


def statistics(
    name: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str | None = None,
    tokenize: str | None = None,
    lowercase: bool = False,
    jobs: int = 1,
) -> SentenceStatistics:
    """Counts once what every score, interval, and test of these sentences needs.

    Both sides are in NFC and without invisible characters when they are compared, as what models read is (see
    `normalize`); Chinese has no spaces beside Chinese characters (`join_chinese`). Where that changes more than how
    many spaces there are, the signature says ``text:normalized``.

    Args:
        name: a key of `METRICS`.
        hypotheses: detokenized translations.
        references: as many; empty strings are allowed on both sides.
        target_language: chooses the tokenization if `tokenize` is None, see `choose_tokenization`.
        tokenize: one of sacrebleu's tokenizers, for example ``13a``, ``zh``, ``char``, ``none``.
        lowercase: ignore case; shown as ``case:lc`` in the signature.
        jobs: how many processes to fork for metrics that are `SLOW`.

    Raises:
        ValueError: for an unknown metric or tokenizer, for no sentences, and for unequal counts.
        TypeError: if a sentence is not a string.
        ModuleNotFoundError: for METEOR without nltk.
        RuntimeError: if a process died.
    """
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}: choose one of {', '.join(METRICS)}")
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses for {len(references)} references: there must be one for each")
    if not hypotheses:
        raise ValueError(f"{name}: there are no sentences to score")
    check_strings("hypothesis", hypotheses)
    check_strings("reference", references)
    if tokenize is None and target_language:
        tokenize = choose_tokenization(target_language)
    if tokenize is not None and tokenize not in BLEU.TOKENIZERS:
        raise ValueError(f"unknown tokenization {tokenize!r}: sacrebleu has {', '.join(BLEU.TOKENIZERS)}")

    (translations, changed), (originals, others_changed) = (
        make_regular(side, chinese=tokenize == "zh") for side in (hypotheses, references)
    )
    normalized = changed or others_changed

    def count(sentences: slice) -> SentenceStatistics:
        metric = METRICS[name](tokenize, lowercase)
        rows = metric._extract_corpus_statistics(translations[sentences], [originals[sentences]])
        return SentenceStatistics(metric, np.array(rows, dtype=np.float64), normalized)

    if jobs == 1 or name not in SLOW or len(hypotheses) <= _BLOCK:
        return count(slice(None))
    blocks = [slice(first, first + _BLOCK) for first in range(0, len(hypotheses), _BLOCK)]
    counted = list(ordered_map(count, blocks, min(jobs, len(blocks))))
    # A metric learns what its signature says by counting.
    return SentenceStatistics(counted[0].metric, np.concatenate([block.rows for block in counted]), normalized)


def make_regular(sentences: Sequence[str], *, chinese: bool) -> tuple[list[str], bool]:
    """The sentences as they are compared, and whether that changed more than how many spaces are between words."""
    regular = list(map(normalize, sentences))
    if chinese:
        regular = list(map(join_chinese, regular))
    return regular, any(" ".join(given.split()) != made for given, made in zip(sentences, regular))


def score(
    name: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str | None = None,
    tokenize: str | None = None,
    lowercase: bool = False,
    resamples: int = 0,
    seed: int = SEED,
) -> Score:
    """The score of a corpus; arguments and errors as of `statistics` and `SentenceStatistics.score`."""
    check_resamples(resamples)
    counts = statistics(
        name, hypotheses, references, target_language=target_language, tokenize=tokenize, lowercase=lowercase
    )
    return counts.score(resamples=resamples, seed=seed)


def check_resamples(resamples: int) -> None:
    """Raises ValueError if the number of resamples gives no interval."""
    if resamples == 1 or resamples < 0:
        raise ValueError(f"resamples is {resamples}: 0 for no interval, or at least 2 (1000 is usual)")


def check_strings(side: str, sentences: Sequence[str]) -> None:
    """Raises TypeError naming the first sentence that is not a string; sacrebleu would accept some."""
    for number, sentence in enumerate(sentences, start=1):
        if not isinstance(sentence, str):
            raise TypeError(f"{side} {number} is {type(sentence).__name__}, not a string")
