"""The figures of a set of alignments: as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from .alignment_score import LinkScore, entropies, score_links
from .hard_links import GoldLinks
from .soft_alignment import SoftAlignment


@dataclass(frozen=True)
class AlignmentSummary:
    """Entropy and, against gold links, the error rate.

    Attributes:
        sentences: that were read.
        target_words: of them, ``</s>`` not counted.
        entropy: mean over all target words, in bits; None without any.
        uniform_entropy: what it would be if every target word attended to all source tokens alike; None without any.
        sentence_entropies: the mean of each sentence; None for one without target words.
        score: against gold links; None without them.
    """

    sentences: int
    target_words: int
    entropy: float | None
    uniform_entropy: float | None
    sentence_entropies: list[float | None]
    score: LinkScore | None


def summarize(alignments: Sequence[SoftAlignment], gold: Sequence[GoldLinks] | None = None) -> AlignmentSummary:
    """Summarises alignments.

    Args:
        alignments: of words, if the gold links are between words.
        gold: the links of the same sentence pairs, or None.

    Raises:
        ValueError: if the gold links are not those of the sentences.
    """
    by_sentence = [entropies(alignment) for alignment in alignments]
    uniform = [np.full(alignment.target_words, np.log2(len(alignment.source))) for alignment in alignments]
    words = sum(map(len, by_sentence))
    return AlignmentSummary(
        sentences=len(alignments),
        target_words=words,
        entropy=float(np.concatenate(by_sentence).mean()) if words else None,
        uniform_entropy=float(np.concatenate(uniform).mean()) if words else None,
        sentence_entropies=[float(values.mean()) if len(values) else None for values in by_sentence],
        score=None if gold is None else score_links(alignments, gold),
    )


def as_text(summary: AlignmentSummary) -> str:
    """The summary for a terminal."""
    lines = [f"{summary.sentences} sentences, {summary.target_words} target words"]
    if summary.entropy is None:
        lines.append("Entropy: no target words")
    else:
        lines.append(
            f"Entropy of the weights: {summary.entropy:.2f} bits a target word (uniform: {summary.uniform_entropy:.2f})"
        )
    if summary.score:
        lines.append(
            f"Alignment error rate: {summary.score.error_rate:.1f} % (precision {summary.score.precision:.1f} %, "
            f"recall {summary.score.recall:.1f} %; {summary.score.links} links, {summary.score.sure_links} sure ones)"
        )
        lines.append("Each target word is linked to the source word that it attends to most.")
    return "\n".join([*lines, ""])


def as_json(summary: AlignmentSummary) -> str:
    """Everything, unrounded."""
    return json.dumps(asdict(summary), indent=2) + "\n"
