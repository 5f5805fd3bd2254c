"""Batches of similar length from a stream, as in the papers' code."""

from __future__ import annotations

import numpy as np
from fairseq.data import BaseWrapperDataset, LanguagePairDataset


class PooledBatchesDataset(BaseWrapperDataset):
    """Reads a few batches' worth of pairs in random order, sorts those by length, and cuts them into batches.

    fairseq sorts the whole training set, so that a batch holds pairs of the same length. Bahdanau et al. (2015), B.2,
    sort 20 batches at a time; the length of a pair is the length of its longer side, as in the released code. The order
    is drawn once from ``--seed`` and is the same in every epoch; fairseq then shuffles the batches, unless
    ``--curriculum`` says not to.

    Args:
        dataset: of pairs.
        batches: how many batches are sorted at a time; 0: the batches are fairseq's own.
        max_words: pairs with a side of more words, its end not counted, are left out; 0: none.
    """

    def __init__(self, dataset: LanguagePairDataset, *, batches: int, max_words: int) -> None:
        super().__init__(dataset)
        self.batches = batches
        self.max_words = max_words

    def _lengths(self, indices: np.ndarray) -> np.ndarray:
        return np.maximum(self.dataset.src_sizes[indices], self.dataset.tgt_sizes[indices])

    def ordered_indices(self) -> np.ndarray:
        """All pairs that are short enough, in random order, or in fairseq's own, which sorts them by length."""
        indices = np.random.permutation(len(self.dataset)) if self.batches else self.dataset.ordered_indices()
        if self.max_words:
            indices = indices[self._lengths(indices) <= self.max_words + 1]
        if not len(indices):
            raise ValueError(f"--max-train-words {self.max_words} leaves none of the {len(self.dataset)} pairs")
        return indices

    def batch_by_size(
        self,
        indices: np.ndarray,
        max_tokens: int | None = None,
        max_sentences: int | None = None,
        required_batch_size_multiple: int = 1,
    ) -> list[np.ndarray]:
        """Batches of ``max_sentences`` pairs, or fairseq's own.

        A pool is cut into batches of that size but for the last: ``required_batch_size_multiple`` is fairseq's alone.

        Raises:
            ValueError: if the size of a batch of a pool is not given in sentences, or given in tokens as well.
        """
        if not self.batches:
            return self.dataset.batch_by_size(indices, max_tokens, max_sentences, required_batch_size_multiple)
        if not max_sentences:
            raise ValueError("--sort-k-batches needs a batch size in sentences: --batch-size (80 in the papers)")
        if max_tokens:
            raise ValueError(
                "--sort-k-batches counts a batch in sentences: leave --max-tokens out, or --sort-k-batches"
            )
        pool = self.batches * max_sentences
        batches = []
        for start in range(0, len(indices), pool):
            part = indices[start : start + pool]
            if self.batches > 1:
                part = part[np.argsort(self._lengths(part), kind="stable")]
            batches += [part[i : i + max_sentences] for i in range(0, len(part), max_sentences)]
        return batches
