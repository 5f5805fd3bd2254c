"""Text in, `Score` out. No torch, no fairseq."""

from .builders import METRICS, choose_tokenization, guess_tokenization, split_words, stream_words
from .sentence_statistics import Interval, Score, SentenceStatistics, score, statistics
from .significance import PairedResult, paired_bootstrap, paired_randomization, two_sided_p_value

__all__ = [
    "METRICS",
    "Interval",
    "PairedResult",
    "Score",
    "SentenceStatistics",
    "choose_tokenization",
    "guess_tokenization",
    "paired_bootstrap",
    "paired_randomization",
    "score",
    "split_words",
    "statistics",
    "stream_words",
    "two_sided_p_value",
]
