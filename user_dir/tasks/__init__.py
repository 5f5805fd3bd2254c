"""fairseq tasks: translation with the papers' training and search, and with sampled subwords."""

from .published_translation import PublishedTranslationTask
from .sampled_translation import SampledTranslationTask

__all__ = ["PublishedTranslationTask", "SampledTranslationTask"]
