"""fairseq tasks: what the papers' training and search need besides fairseq's own translation task."""

from .published_translation import PublishedTranslationTask

__all__ = ["PublishedTranslationTask"]
