"""Beam search in numpy: the one of fairseq-generate, with its defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .model import OnnxModel


class Hypothesis(NamedTuple):
    """A translation.

    Attributes:
        score: the sum of its words' log-probabilities, ``</s>`` included, divided by their number to the power of the
            length penalty.
        words: the words' numbers, without ``</s>``.
    """

    score: float
    words: list[int]

    def text(self, model: OnnxModel) -> str:
        """The translation as text."""
        return " ".join(model.target_words[word] for word in self.words)


def beam_search(
    model: OnnxModel,
    sentences: Sequence[np.ndarray],
    *,
    beam: int = 5,
    max_words: int = 200,
    length_penalty: float = 1.0,
) -> list[list[Hypothesis]]:
    """Translates a batch.

    At each step, the 2k best continuations of a sentence's k hypotheses are looked at. Those among the first k that end
    are finished; of those that go on, the first k do. A sentence is done when k hypotheses are finished. (As many as k
    of the 2k may end, so k are always left to go on.)

    Args:
        model: an exported model.
        sentences: each as numbers, with ``</s>`` at the end.
        beam: k, hypotheses for each sentence.
        max_words: the most words of a translation.
        length_penalty: 1 compares hypotheses by their mean log-probability for each word; more favors long ones.

    Returns:
        For each sentence, up to k hypotheses, best first.
    """
    beam = min(beam, len(model.target_words) - 1)
    limit = min(max_words, model.longest_target - 1)
    sources, state = model.encode(sentences)
    state = {name: rows.repeat(beam, axis=0) for name, rows in state.items()}
    running = np.arange(len(sentences))
    words = np.full((len(sentences), beam, 1), model.eos)
    totals = np.zeros((len(sentences), beam), dtype=np.float32)
    finished: list[list[Hypothesis]] = [[] for _ in sentences]
    for step in range(limit + 1):
        scores, state = model.step(words[:, :, -1].ravel(), sources, state)
        scores[:, [model.pad, model.eos] if step == 0 else model.pad] = -np.inf  # no empty translations
        if step == limit:
            scores[:, np.arange(scores.shape[1]) != model.eos] = -np.inf
        following = totals[:, :, None] + scores.reshape(len(running), beam, -1)
        if step == 0:
            following = following[:, :1]  # all hypotheses are the same
        best, choices = largest(following.reshape(len(running), -1), 2 * beam)
        parents, chosen = np.divmod(choices, scores.shape[1])
        ends = (chosen == model.eos) & (best > -np.inf)
        for row, rank in zip(*ends[:, :beam].nonzero()):
            done = finished[running[row]]
            if len(done) < beam:
                score = float(best[row, rank]) / (step + 1) ** length_penalty
                done.append(Hypothesis(score, words[row, parents[row, rank], 1:].tolist()))
        going = np.array([len(finished[sentence]) < beam for sentence in running])
        if step == limit or not going.any():
            break
        # Stable: continuations that end come after the others, which keep their order.
        places = ends.argsort(axis=1, kind="stable")[going, :beam]
        parents, chosen, totals = (np.take_along_axis(x[going], places, axis=1) for x in (parents, chosen, best))
        rows = going.nonzero()[0][:, None]
        words = np.concatenate([words[rows, parents], chosen[:, :, None]], axis=2)
        state = {name: values[(rows * beam + parents).ravel()] for name, values in state.items()}
        if not going.all():
            running, sources = running[going], sources.select(going)
    return [sorted(done, key=lambda hypothesis: -hypothesis.score) for done in finished]


def largest(rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` largest numbers of each row, largest first, and their columns."""
    count = min(count, rows.shape[1])
    columns = np.argpartition(rows, -count, axis=1)[:, -count:]
    order = np.take_along_axis(rows, columns, axis=1).argsort(axis=1)[:, ::-1]
    columns = np.take_along_axis(columns, order, axis=1)
    return np.take_along_axis(rows, columns, axis=1), columns
