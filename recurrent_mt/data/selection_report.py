"""The report of a selection, as Markdown and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .markdown import quote_pair, table
from .parallel_text import Block

_EXAMPLES = 5

#: A score and both texts.
ScoredPair = tuple[float, str, str]


@dataclass
class SelectionCounts:
    """How many pairs and words were selected, and at which scores."""

    pairs: int  # of the corpus
    in_domain_pairs: int  # that the domain's models were trained on
    sampled_pairs: int  # of the corpus that the general models were trained on
    vocabulary: tuple[int, int]  # words that the models of source and target know
    words_wanted: int  # words of the source that were asked for
    seed: int  # of the sample
    words: int = 0  # words of the source in the corpus
    selected_pairs: int = 0
    selected_words: int = 0  # words of the source in them
    score_sums: tuple[float, float] = (0.0, 0.0)  # sums of scores of pairs selected and of the others
    highest_selected: float = float("-inf")  # the score of the worst pair selected
    lowest: list[ScoredPair] = field(default_factory=list)  # examples of the best scores
    highest: list[ScoredPair] = field(default_factory=list)  # examples of the worst scores

    def add(self, block: Block, scores: np.ndarray, words: np.ndarray, taken: np.ndarray) -> None:
        """Counts a block: scores (N,), words (N,), and which pairs were selected (N,)."""
        self.words += int(words.sum())
        self.selected_pairs += int(taken.sum())
        self.selected_words += int(words[taken].sum())
        own, other = self.score_sums
        self.score_sums = (own + float(scores[taken].sum(dtype=float)), other + float(scores[~taken].sum(dtype=float)))
        if taken.any():
            self.highest_selected = max(self.highest_selected, float(scores[taken].max()))
        for sign, extremes in ((1, self.lowest), (-1, self.highest)):
            for index in np.argsort(sign * scores, kind="stable")[:_EXAMPLES]:
                texts = (side[index].decode(errors="replace") for side in (block.source, block.target))
                extremes.append((float(scores[index]), *texts))
            extremes.sort(key=lambda pair: sign * pair[0])
            del extremes[_EXAMPLES:]

    @property
    def mean_scores(self) -> tuple[float, float]:
        """Of pairs selected and of the others; 0 where there are none."""
        others = self.pairs - self.selected_pairs
        return self.score_sums[0] / max(self.selected_pairs, 1), self.score_sums[1] / max(others, 1)


def collect_numbers(counts: SelectionCounts) -> dict[str, Any]:
    """Collects the numbers of the report for JSON."""
    content = asdict(counts)
    del content["score_sums"]
    content["mean_score_selected"], content["mean_score_others"] = counts.mean_scores
    return content


def as_markdown(out: Path, counts: SelectionCounts) -> str:
    """Formats the report as Markdown."""
    selected, others = counts.mean_scores
    other_pairs = counts.pairs - counts.selected_pairs
    rows = [
        ("corpus", f"{counts.pairs:,}", f"{counts.words:,}", ""),
        ("selected", f"{counts.selected_pairs:,}", f"{counts.selected_words:,}", f"{selected:.3f}"),
        ("others", f"{other_pairs:,}", f"{counts.words - counts.selected_words:,}", f"{others:.3f}"),
    ]
    everything = " The corpus has no more: all of it is selected." if counts.selected_pairs == counts.pairs else ""
    return f"""# Selection of {out.name}

{counts.words_wanted:,} words of the source were asked for.{everything}

{table(("", "pairs", "source words", "mean score"), rows)}

A score is the difference of cross-entropies in bits a word, in-domain less general, source and target added; the lowest
are selected, up to {counts.highest_selected:.3f}. Words are tokens, punctuation among them; in Chinese, characters.

- In-domain models: {counts.in_domain_pairs:,} pairs.
- General models: {counts.sampled_pairs:,} pairs of the corpus, seed {counts.seed}.
- Words that the models know: {counts.vocabulary[0]:,} of the source, {counts.vocabulary[1]:,} of the target.

## The lowest scores

{_list_examples(counts.lowest)}

## The highest scores

{_list_examples(counts.highest)}
"""


def _list_examples(pairs: list[ScoredPair]) -> str:
    return "\n".join(quote_pair(f"{score:.3f}", source, target) for score, source, target in pairs)
