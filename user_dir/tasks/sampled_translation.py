"""``sampled_translation``: a task of before, whose models translate as others do; it trains none any more."""

from dataclasses import dataclass
from typing import Any

from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from omegaconf import II

from ..models.removed import removed


@dataclass
class SampledTranslationConfig(TranslationConfig):
    """What checkpoints have of it."""

    sample_subwords: str = removed("")
    subword_dropout: float = removed(0.1)
    seed: int = II("common.seed")


@register_task("sampled_translation", dataclass=SampledTranslationConfig)
class SampledTranslationTask(TranslationTask):
    """Translation; only fairseq's trainer passes a ``data_selector``."""

    def load_dataset(self, split: str, epoch: int = 1, combine: bool = False, **kwargs: Any) -> None:
        """Loads a split, if not to train on it."""
        if "data_selector" in kwargs:
            raise ValueError(
                "--task sampled_translation is not in this version any more (docs/log/removed.md); a56b22d still has it"
            )
        super().load_dataset(split, epoch=epoch, combine=combine, **kwargs)
