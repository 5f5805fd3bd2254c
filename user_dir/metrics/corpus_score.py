"""Scores of a whole corpus through sacrebleu."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric

from .score import Interval, Score

SEED_VARIABLE = "SACREBLEU_SEED"


def bleu(tokenize: str | None, lowercase: bool) -> Metric:
    """BLEU (Papineni et al. 2002). ``tokenize`` is one of sacrebleu's names; None is its default, 13a."""
    # force: text that looks tokenised is scored without a warning; the signature says what was done.
    return BLEU(tokenize=tokenize, lowercase=lowercase, force=True)


def chrf(tokenize: str | None, lowercase: bool) -> Metric:
    """chrF2 (Popović 2015): characters, so that ``tokenize`` has no meaning for it."""
    return CHRF(lowercase=lowercase)


def ter(tokenize: str | None, lowercase: bool) -> Metric:
    """Translation edit rate (Snover et al. 2006), which ignores case by definition; lower is better.

    With ``tokenize="zh"`` (or ``ja-mecab``, ``ko-mecab``) the words are the single characters of the script.
    """
    asian = tokenize is not None and tokenize.split("-")[0] in ("zh", "ja", "ko")
    return TER(normalized=asian, asian_support=asian)


METRICS: dict[str, Callable[[str | None, bool], Metric]] = {"bleu": bleu, "chrf": chrf, "ter": ter}
"""Name of a metric -> what builds it from a tokenisation and the lowercasing choice."""


def score(
    name: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str | None = None,
    tokenize: str | None = None,
    lowercase: bool = False,
    resamples: int = 0,
    seed: int = 12345,
) -> Score:
    """Scores a corpus against one reference a sentence.

    Args:
        name: a key of `METRICS`.
        hypotheses: detokenised translations.
        references: as many; empty strings are allowed on both sides.
        target_language: chooses the tokenisation where `tokenize` is None: ``zh`` for Chinese, else
            sacrebleu's default.
        tokenize: one of sacrebleu's tokenisations, for example ``13a``, ``zh``, ``char``, ``none``.
        lowercase: ignore case; shown as ``case:lc`` in the signature.
        resamples: bootstrap resamples for a confidence interval; 0 for none.
        seed: of the resampling.

    Raises:
        ValueError: for an unknown metric or tokenisation, for no sentences, and for unequal counts.
        TypeError: if a sentence is not a string.
    """
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}: choose one of {', '.join(METRICS)}")
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses for {len(references)} references: one each is needed")
    if not hypotheses:
        raise ValueError(f"{name}: there are no sentences to score")
    if resamples == 1 or resamples < 0:
        raise ValueError(f"resamples is {resamples}: 0 for no interval, or at least 2 (1000 is usual)")
    check_strings("hypothesis", hypotheses)
    check_strings("reference", references)
    if tokenize is None and target_language == "zh":
        tokenize = "zh"
    if tokenize is not None and tokenize not in BLEU.TOKENIZERS:
        raise ValueError(f"unknown tokenisation {tokenize!r}: sacrebleu has {', '.join(BLEU.TOKENIZERS)}")
    metric = METRICS[name](tokenize, lowercase)
    with resampling_seed(seed):
        result = metric.corpus_score(hypotheses, [references], n_bootstrap=resamples or 1)
    interval = Interval(result._mean, result._ci) if resamples else None
    return Score(result.name, result.score, str(metric.get_signature()), interval, result._verbose)


def check_strings(side: str, sentences: Sequence[str]) -> None:
    """Raises TypeError naming the first sentence that is not a string; sacrebleu would accept some."""
    for number, sentence in enumerate(sentences, start=1):
        if not isinstance(sentence, str):
            raise TypeError(f"{side} {number} is {type(sentence).__name__}, not a string")


@contextmanager
def resampling_seed(seed: int) -> Iterator[None]:
    """Sets the seed of sacrebleu's resampling, which it reads from the environment only."""
    before = os.environ.get(SEED_VARIABLE)
    os.environ[SEED_VARIABLE] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ[SEED_VARIABLE]
        else:
            os.environ[SEED_VARIABLE] = before
