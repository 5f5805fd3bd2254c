"""The synthetic corpus: sentence pairs from a synchronous grammar, with gold trees and alignments.

French–English and Chinese–English.

A meaning (:mod:`.meaning`) is composed at random (:mod:`.composer`) from a lexicon (:mod:`.lexicon`) and
realized in two languages (:mod:`.french`, :mod:`.english`, :mod:`.chinese`); words that express the same
part of it are aligned. Needs the standard library alone.

Example:
    >>> example = next(generate("fr-en", {"test": 1}, seed=1))
    >>> example.source_text, example.target_text, str(example.source_tree), example.alignment
"""

from .generation import LANGUAGES, LONGEST, PAIRS, SHORTEST, SPLITS, Example, detokenize, generate
from .tree import Leaf, Tree

__all__ = ["LANGUAGES", "LONGEST", "PAIRS", "SHORTEST", "SPLITS", "Example", "Leaf", "Tree", "detokenize", "generate"]
