"""Composes the meanings of random sentences of a wanted length."""

from .sentences import SentenceComposer

__all__ = ["SentenceComposer"]
