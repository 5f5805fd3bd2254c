"""Trained models in Python: text in, text out, and how they translate, made visible; docs/guides/python.md."""

from .loading import load_model, load_models
from .model import Candidate, Cut, Model, Reading, ScoredWord

__all__ = ["Candidate", "Cut", "Model", "Reading", "ScoredWord", "load_model", "load_models"]
