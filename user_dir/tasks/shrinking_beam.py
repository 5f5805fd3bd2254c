"""The beam search of the papers' released code."""

from __future__ import annotations

import math

import torch
from fairseq.data import Dictionary
from fairseq.search import Search
from torch import Tensor


class ShrinkingBeam(Search):
    """A beam that loses one place for every finished hypothesis, with limits that depend on the source.

    With n the length of the source, including its end: no hypothesis may end in the first ⌊n/2⌋ steps, none may have
    more than 3n words, including its end, and the search stops when as many hypotheses have ended as the beam had
    places. Anything that has not ended by then is dropped, so there may be fewer hypotheses, or none. fairseq's own
    search keeps its beam full instead. (The authors' ``sample.py``; Cho et al. 2014b and Bahdanau et al. 2015 call it
    "basic beam search".)
    """

    needs_src_lengths = True

    def __init__(self, dictionary: Dictionary) -> None:
        super().__init__(dictionary)
        self.stop_on_max_len = True
        self.places = torch.empty(0, dtype=torch.long)  # (B,) left in each sentence's beam

    def step(
        self,
        step: int,
        lprobs: Tensor,
        scores: Tensor | None,
        prev_output_tokens: Tensor | None = None,
        original_batch_idxs: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Chooses how the hypotheses continue.

        Args:
            step: from 0.
            lprobs: (B, K, V) log-probabilities of the next word.
            scores: (B, K, step) sums so far.
            prev_output_tokens: not used.
            original_batch_idxs: not used.

        Returns:
            Scores, words and hypotheses of the best continuations (B, 2K); those beyond a sentence's places have a
            score of −∞ and a word that ends nothing.
        """
        batch, beam, vocabulary = lprobs.shape
        if step == 0 or scores is None:
            self.places = torch.full((batch,), beam, device=lprobs.device)
            lprobs = lprobs[:, :1].clone()
        else:
            lprobs = lprobs + scores[:, :, step - 1].unsqueeze(2)
        length = self.src_lengths.to(lprobs.device) + 1  # fairseq does not count the end
        lprobs[step < length // 2, :, self.eos] = -math.inf
        lprobs[step >= 3 * length] = -math.inf
        flat = lprobs.flatten(1)
        best, index = flat.topk(min(2 * beam, flat.size(1)), dim=1)
        if best.size(1) < 2 * beam:
            missing = 2 * beam - best.size(1)
            best = torch.nn.functional.pad(best, (0, missing), value=-math.inf)
            index = torch.nn.functional.pad(index, (0, missing))
        hypotheses = index.div(vocabulary, rounding_mode="trunc")
        words = index.fmod(vocabulary)
        beyond = torch.arange(2 * beam, device=lprobs.device) >= self.places.unsqueeze(1)
        best = best.masked_fill(beyond, -math.inf)
        words = words.masked_fill(best == -math.inf, self.unk)
        self.places = self.places - words.eq(self.eos).sum(dim=1)
        return best, words, hypotheses

    def prune_sentences(self, batch_idxs: Tensor) -> None:
        """Keeps the places of the sentences that continue."""
        self.places = self.places[batch_idxs]
