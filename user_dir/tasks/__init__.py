"""fairseq tasks: the compiled beam search, the papers' training and search."""

from .native_translation import NativeTranslationTask
from .published_translation import PublishedTranslationTask
from .sampled_translation import SampledTranslationTask

__all__ = ["NativeTranslationTask", "PublishedTranslationTask", "SampledTranslationTask"]
