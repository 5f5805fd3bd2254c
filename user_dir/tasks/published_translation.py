"""``published_translation``: fairseq's translation task with the batches and the search of the papers' code."""

import logging
from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq.search import BeamSearch
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig
from torch import nn

from .native_translation import NativeTranslationTask
from .pooled_batches import PooledBatchesDataset
from .shrinking_beam import ShrinkingBeam

logger = logging.getLogger(__name__)

#: The authors' code gives up if a beam of this many hypotheses finds no translation.
LARGEST_BEAM = 500


@dataclass
class PublishedTranslationConfig(TranslationConfig):
    """Options of the task, besides those of ``translation``."""

    sort_k_batches: int = field(
        default=0,
        metadata={"help": "sort this many batches' worth of pairs at a time (Bahdanau et al. 2015, B.2: 20)"},
    )
    max_train_words: int = field(
        default=0,
        metadata={
            "help": "train on pairs of at most this many words per side (Bahdanau et al. 2015: 30 or 50); 0: all"
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
        super().load_dataset(split, epoch=epoch, combine=combine, **kwargs)
        is_for_training = split == self.cfg.train_subset and "data_selector" in kwargs
        if is_for_training and (self.cfg.sort_k_batches or self.cfg.max_train_words):
            self.datasets[split] = PooledBatchesDataset(
                self.datasets[split], batches=self.cfg.sort_k_batches, max_words=self.cfg.max_train_words
            )

    def build_generator(self, models: list[nn.Module], args: Any, seq_gen_cls: Any = None, **kwargs: Any) -> Any:
        """The generator of fairseq, with the papers' search if an option asks for it.

        Raises:
            ValueError: if alignments are asked for, which fairseq prints for full beams only, or of models without
                attention; or another search.
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
