"""fairseq tasks: the compiled beam search, and what the papers' training and search need besides."""

from .native_translation import NativeTranslationTask
from .published_translation import PublishedTranslationTask

__all__ = ["NativeTranslationTask", "PublishedTranslationTask"]
