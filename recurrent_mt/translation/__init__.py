"""Trained models in Python: text in, text out, and what is to be seen of how they translate. See docs/guides/python.md."""

from .loading import load_model, load_models
from .model import Candidate, Cut, Model, Reading, ScoredWord

__all__ = ["Candidate", "Cut", "Model", "Reading", "ScoredWord", "load_model", "load_models"]
