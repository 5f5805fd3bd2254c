"""Text in, `Score` out. No torch, no fairseq."""

from .corpus_score import METRICS, score
from .score import Interval, Score

__all__ = ["METRICS", "Interval", "Score", "score"]
