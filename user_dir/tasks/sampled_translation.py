"""``sampled_translation``: fairseq's translation task with subwords that are drawn anew in each epoch."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from omegaconf import II
from torch import nn

from ..models.encoder_decoder import check_alignments
from .subword_sampling import SampledSubwordsDataset, load_sampler


@dataclass
class SampledTranslationConfig(TranslationConfig):
    """Options of the task, besides those of ``translation``."""

    sample_subwords: str = field(
        default="",
        metadata={
            "help": "split the training text anew in each epoch with this file: subword-nmt's codes (Provilkov et al. "
            "2020) or a SentencePiece model (Kudo 2018); two files, source first, are separated by a comma"
        },
    )
    subword_dropout: float = field(
        default=0.1,
        metadata={
            "help": "probability of leaving out a merge (Provilkov et al. 2020: 0.1); with SentencePiece's unigram "
            "model the exponent alpha (Kudo 2018: 0.1 or 0.2)"
        },
    )
    seed: int = II("common.seed")


@register_task("sampled_translation", dataclass=SampledTranslationConfig)
class SampledTranslationTask(TranslationTask):
    """Translation; only what is trained on is sampled, as only fairseq's trainer passes a ``data_selector``."""

    def load_dataset(self, split: str, epoch: int = 1, combine: bool = False, **kwargs: Any) -> None:
        """Loads a split.

        Raises:
            ValueError: if a file is missing or of another kind, if there are not one or two of them, or if an option
                asks for what is not done: dropout without a file, or alignments, which count the subwords on disk.
        """
        super().load_dataset(split, epoch=epoch, combine=combine, **kwargs)
        if split != self.cfg.train_subset or "data_selector" not in kwargs:
            return
        if not self.cfg.sample_subwords:
            if self.cfg.subword_dropout != SampledTranslationConfig.subword_dropout:
                raise ValueError(f"--subword-dropout {self.cfg.subword_dropout} needs --sample-subwords")
            return
        if self.cfg.load_alignments:
            raise ValueError("--load-alignments does not work with --sample-subwords: it counts the subwords on disk")
        files = self.cfg.sample_subwords.split(",")
        if len(files) > 2 or not 0 <= self.cfg.subword_dropout <= 1:
            raise ValueError(
                "--sample-subwords takes one file or two, and --subword-dropout a number from 0 to 1, not "
                f"{self.cfg.sample_subwords} and {self.cfg.subword_dropout}"
            )
        samplers = [load_sampler(Path(file), self.cfg.subword_dropout) for file in files]
        self.datasets[split] = SampledSubwordsDataset(
            self.datasets[split], source=samplers[0], target=samplers[-1], seed=self.cfg.seed
        )

    def build_generator(self, models: list[nn.Module], args: Any, seq_gen_cls: Any = None, **kwargs: Any) -> Any:
        """The generator of fairseq.

        Raises:
            ValueError: if alignments are asked of models without attention.
        """
        if getattr(args, "print_alignment", None):
            check_alignments(models)
        return super().build_generator(models, args, seq_gen_cls=seq_gen_cls, **kwargs)
