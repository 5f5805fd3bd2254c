"""``native_translation``: fairseq's translation task with the native beam search."""

from dataclasses import dataclass
from typing import Any

from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from torch import nn

from .native_generator import NativeGenerator


@dataclass
class NativeTranslationConfig(TranslationConfig):
    """The options of ``translation``."""


@register_task("native_translation", dataclass=NativeTranslationConfig)
class NativeTranslationTask(TranslationTask):
    """Translation whose search is compiled; see :class:`~.native_generator.NativeGenerator`."""

    def build_generator(self, models: list[nn.Module], args: Any, seq_gen_cls: Any = None, **kwargs: Any) -> Any:
        """The native search, unless alignments are asked for, which only fairseq's own generator prints."""
        if seq_gen_cls is None and not getattr(args, "print_alignment", None):
            seq_gen_cls = NativeGenerator
        return super().build_generator(models, args, seq_gen_cls=seq_gen_cls, **kwargs)
