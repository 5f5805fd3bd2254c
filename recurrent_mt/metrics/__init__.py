"""Text in, `Score` out. No torch, no fairseq."""

from .builders import METRICS, choose_tokenization, guess_tokenization, split_words, stream_words
from .sentence_statistics import Score, SentenceStatistics, estimate_interval, score, statistics
from .significance import (
    bootstrap_p_value,
    randomization_p_value,
    resample_scores,
    sign_systems,
)

__all__ = [
    "METRICS",
    "Score",
    "SentenceStatistics",
    "bootstrap_p_value",
    "choose_tokenization",
    "estimate_interval",
    "guess_tokenization",
    "randomization_p_value",
    "resample_scores",
    "score",
    "sign_systems",
    "split_words",
    "statistics",
    "stream_words",
]
