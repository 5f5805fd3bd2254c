"""Composes the meanings of random sentences of a wanted length."""
