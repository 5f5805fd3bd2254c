"""``published_translation``: fairseq's translation task with the batches and the search of the papers' code."""

import logging
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from fairseq.data import BaseWrapperDataset, Dictionary, LanguagePairDataset
from fairseq.search import BeamSearch, Search
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig
from torch import Tensor, nn
from torch.nn import functional as F

from .native_translation import NativeTranslationTask

logger = logging.getLogger(__name__)

#: The authors' code gives up if a beam of this many hypotheses finds no translation.
LARGEST_BEAM = 500


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
        missing = 2 * beam - best.size(1)
        best, index = F.pad(best, (0, missing), value=-math.inf), F.pad(index, (0, missing))
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


@dataclass
class PublishedTranslationConfig(TranslationConfig):
    """Options of the task, besides those of ``translation``."""

    sort_k_batches: int = field(
        default=0,
        metadata={
            "help": "sort this many batches' worth of pairs at a time (Bahdanau et al. 2015, B.2: 20)",
            "decides": "batches",
        },
    )
    max_train_words: int = field(
        default=0,
        metadata={
            "help": "train on pairs of at most this many words per side (Bahdanau et al. 2015: 30 or 50); 0: all",
            "decides": "batches",
        },
    )
    shrinking_beam: bool = field(
        default=False,
        metadata={
            "help": "search as the papers' released code does; forbid <unk> with --unkpen inf. Its own limits of a "
            "translation's length, from half of the source's to three times that, take the place of --min-len, "
            "--max-len-a, and --max-len-b"
        },
    )


@register_task("published_translation", dataclass=PublishedTranslationConfig)
class PublishedTranslationTask(NativeTranslationTask):
    """Translation with the papers' order of training pairs and the papers' search."""

    def load_dataset(self, split: str, epoch: int = 1, combine: bool = False, **kwargs: Any) -> None:
        """Loads a split; to train on it, it is wrapped where an option asks for that.

        Translating or scoring the training set leaves it whole, in fairseq's order: only fairseq's trainer passes a
        ``data_selector``.
        """
        was_loaded = isinstance(self.datasets.get(split), LanguagePairDataset)
        super().load_dataset(split, epoch=epoch, combine=combine, **kwargs)
        is_for_training = split == self.cfg.train_subset and "data_selector" in kwargs
        if is_for_training and (self.cfg.sort_k_batches or self.cfg.max_train_words):
            if was_loaded:
                raise ValueError(f"--valid-subset has {split}, which this task changes for training")
            if self.cfg.max_train_words and self.cfg.num_batch_buckets:
                raise ValueError("--max-train-words counts words, and --num-batch-buckets rounds them: leave one out")
            self.datasets[split] = PooledBatchesDataset(
                self.datasets[split], batches=self.cfg.sort_k_batches, max_words=self.cfg.max_train_words
            )

    def build_generator(self, models: list[nn.Module], args: Any, seq_gen_cls: Any = None, **kwargs: Any) -> Any:
        """The generator of fairseq, with the papers' search if an option asks for it.

        Raises:
            ValueError: if alignments are asked for, which fairseq prints for full beams only, or another search.
        """
        generator = super().build_generator(models, args, seq_gen_cls=seq_gen_cls, **kwargs)
        if not self.cfg.shrinking_beam or getattr(args, "score_reference", False):
            return generator
        if getattr(args, "print_alignment", None):
            raise ValueError("--print-alignment needs full beams: leave out --shrinking-beam, or score its output")
        if type(generator.search) is not BeamSearch:
            raise ValueError(
                "--shrinking-beam is a search of its own: leave out --sampling, --diverse-beam-groups, "
                "--diversity-rate, --constraints and --match-source-len, or --shrinking-beam"
            )
        generator.search = ShrinkingBeam(self.target_dictionary)
        generator.should_set_src_lengths = True
        # The search has its own limits for each sentence; these only have to be larger.
        generator.max_len_a, generator.max_len_b, generator.min_len = 3, 3, 0
        return generator

    def inference_step(
        self, generator: Any, models: list[nn.Module], sample: dict[str, Any], **kwargs: Any
    ) -> list[list[dict[str, Any]]]:
        """Translates a batch; a sentence without any translation is tried again, as the released code does.

        First with ``<unk>`` allowed, if it was forbidden, then with a beam twice as wide, and so on. If nothing helps,
        the translation is empty, its score is −∞, and a warning names the sentence.
        """
        hypotheses = super().inference_step(generator, models, sample, **kwargs)
        # fairseq's scorer of given translations has no search.
        if not isinstance(getattr(generator, "search", None), ShrinkingBeam):
            return hypotheses
        for row, found in enumerate(hypotheses):
            if not found:
                hypotheses[row] = self._try_again(generator, models, sample, row, kwargs)
        return hypotheses

    def _try_again(
        self, generator: Any, models: list[nn.Module], sample: dict[str, Any], row: int, arguments: dict[str, Any]
    ) -> list[dict[str, Any]]:
        def only_row(values: dict[str, Any]) -> dict[str, Any]:
            return {name: value[row : row + 1] if torch.is_tensor(value) else value for name, value in values.items()}

        # Among the arguments may be the prefixes of all sentences.
        one, arguments = {"net_input": only_row(sample["net_input"])}, only_row(arguments)
        beam, penalty = generator.beam_size, generator.unk_penalty
        try:
            if penalty == 0:
                generator.beam_size *= 2
            generator.unk_penalty = 0.0
            while generator.beam_size < 2 * LARGEST_BEAM:
                (found,) = super().inference_step(generator, models, one, **arguments)
                if found:
                    return found
                generator.beam_size *= 2
        finally:
            generator.beam_size, generator.unk_penalty = beam, penalty
        source = self.source_dictionary.string(one["net_input"]["src_tokens"])
        logger.warning("no translation of %r ends, even with a beam of %d: writing an empty one", source, LARGEST_BEAM)
        never = torch.tensor([float("-inf")])
        empty = {"tokens": torch.tensor([generator.eos]), "score": never[0], "positional_scores": never}
        return [{**empty, "attention": torch.empty(0), "alignment": torch.empty(0)}]
