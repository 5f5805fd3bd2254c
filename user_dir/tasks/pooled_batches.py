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
        dataset: the pairs.
        batches: how many batches are sorted at a time.
        max_words: pairs with more words on a side, not counting its end, are left out; 0: keep all.
    """

    def __init__(self, dataset: LanguagePairDataset, *, batches: int, max_words: int) -> None:
        super().__init__(dataset)
        self.batches = batches
        self.max_words = max_words

    def _lengths(self, indices: np.ndarray) -> np.ndarray:
        return np.maximum(self.dataset.src_sizes[indices], self.dataset.tgt_sizes[indices])

    def ordered_indices(self) -> np.ndarray:
        """All pairs that are short enough, in random order."""
        indices = np.random.permutation(len(self.dataset))
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
        """Batches of ``max_sentences`` pairs.

        Raises:
            ValueError: if the batch size is not given in sentences.
        """
        if not max_sentences:
            raise ValueError("--sort-k-batches needs a batch size in sentences: --batch-size (80 in the papers)")
        pool = max(self.batches, 1) * max_sentences
        batches = []
        for start in range(0, len(indices), pool):
            part = indices[start : start + pool]
            if self.batches > 1:
                part = part[np.argsort(self._lengths(part), kind="stable")]
            batches += [part[i : i + max_sentences] for i in range(0, len(part), max_sentences)]
        return batches
