"""How good alignments are, against gold links, and how decided, by their entropy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .hard_links import GoldLinks, hard_links
from .soft_alignment import SoftAlignment


@dataclass(frozen=True)
class LinkScore:
    """Alignment error rate, over all sentences together, in percent (Och & Ney 2003, "A Systematic Comparison").

    With links A, sure links S and possible links P ⊇ S::

        AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)    precision = |A ∩ P| / |A|    recall = |A ∩ S| / |S|

    Attributes:
        error_rate: AER; 0 where there is neither a link nor a gold link.
        precision: 100 without links.
        recall: 100 without gold links.
        links: |A|.
        sure_links: |S|.
    """

    error_rate: float
    precision: float
    recall: float
    links: int
    sure_links: int


def score_links(alignments: Sequence[SoftAlignment], gold: Sequence[GoldLinks]) -> LinkScore:
    """Scores the hard links of alignments, see :func:`.hard_links.hard_links`.

    Args:
        alignments: of words, if the gold links are between words.
        gold: the links of the same sentence pairs.

    Raises:
        ValueError: if there are not as many, or a gold link points to a word that a sentence does not have.
    """
    if len(alignments) != len(gold):
        raise ValueError(f"{len(alignments)} alignments, but gold links of {len(gold)} sentences")
    found = sure = in_sure = in_possible = 0
    for alignment, expected in zip(alignments, gold):
        for source, target in sorted(expected.possible):
            if source >= alignment.source_words or target >= alignment.target_words:
                raise ValueError(
                    f"sentence {alignment.number} has {alignment.source_words} source and {alignment.target_words} "
                    f"target words, but a gold link {source}-{target}: the links are of other sentences or other words"
                )
        links = hard_links(alignment)
        found, sure = found + len(links), sure + len(expected.sure)
        in_sure, in_possible = in_sure + len(links & expected.sure), in_possible + len(links & expected.possible)
    return LinkScore(
        error_rate=100 * (1 - (in_sure + in_possible) / (found + sure)) if found + sure else 0.0,
        precision=100 * in_possible / found if found else 100.0,
        recall=100 * in_sure / sure if sure else 100.0,
        links=found,
        sure_links=sure,
    )


def entropies(alignment: SoftAlignment) -> np.ndarray:
    """The entropy of each target word's weights, in bits: 0 for one source token alone, log2 S for all S alike.

    ``</s>`` counts as a source token, but not as a target word.

    Returns:
        (target words,).
    """
    weights = alignment.weights[: alignment.target_words]
    # A rounded row need not sum to 1.
    weights = weights / weights.sum(axis=1, keepdims=True)
    logarithms = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    return -(weights * logarithms).sum(axis=1) + 0.0
