"""Scores of a whole corpus."""

from __future__ import annotations

from collections.abc import Sequence

from .score import Score
from .sentence_statistics import SEED, check_resamples, statistics


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
    """Scores a corpus against one reference per sentence.

    Args:
        name: a key of `METRICS`.
        hypotheses: detokenized translations.
        references: as many; empty strings are allowed on both sides.
        target_language: chooses the tokenization if `tokenize` is None: ``zh`` for Chinese, otherwise sacrebleu's
            default.
        tokenize: one of sacrebleu's tokenizers, for example ``13a``, ``zh``, ``char``, ``none``.
        lowercase: ignore case; shown as ``case:lc`` in the signature.
        resamples: bootstrap resamples for a confidence interval; 0 for none. A single sentence has none: there is no
            spread for resampling to show.
        seed: seed of the resampling.

    Raises:
        ValueError: for an unknown metric or tokenizer, for no sentences, and for unequal counts.
        TypeError: if a sentence is not a string.
        ModuleNotFoundError: for METEOR without nltk.
    """
    check_resamples(resamples)
    counts = statistics(
        name, hypotheses, references, target_language=target_language, tokenize=tokenize, lowercase=lowercase
    )
    return counts.score(resamples=resamples, seed=seed)
