"""Text in, `Score` out. No torch, no fairseq."""

from .builders import METRICS
from .corpus_score import score
from .score import Interval, Score
from .sentence_statistics import SentenceStatistics, statistics
from .significance import PairedResult, paired_bootstrap, paired_randomisation, two_sided_p_value
from .words import split_words

__all__ = [
    "METRICS",
    "Interval",
    "PairedResult",
    "Score",
    "SentenceStatistics",
    "paired_bootstrap",
    "paired_randomisation",
    "score",
    "split_words",
    "statistics",
    "two_sided_p_value",
]
