"""Words of raw text, as the tokenization of BLEU separates them."""

from __future__ import annotations

from collections.abc import Sequence

from sacrebleu.metrics.bleu import _get_tokenizer


def split_words(sentences: Sequence[str], language: str) -> list[list[str]]:
    """The words of raw sentences: sacrebleu's ``zh`` for Chinese (single characters), otherwise its ``13a``."""
    tokenize = _get_tokenizer("zh" if language == "zh" else "13a")()
    return [tokenize(sentence).split() for sentence in sentences]
