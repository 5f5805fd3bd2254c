"""Sentences in, translations out: batches of similar length, in the order of the input."""

from __future__ import annotations

from collections.abc import Sequence

from .model import OnnxModel
from .search import Hypothesis, beam_search


def translate(
    model: OnnxModel, sentences: Sequence[str], *, batch: int = 32, **options: int | float
) -> list[list[Hypothesis]]:
    """Translates sentences.

    Args:
        model: an exported model.
        sentences: space-separated words or subwords, as the model was trained on.
        batch: how many are translated at a time.
        **options: of :func:`~recurrent_mt.onnx_translation.search.beam_search`.

    Returns:
        For each sentence, its hypotheses, best first.

    Raises:
        ValueError: if a sentence is too long for the model.
    """
    numbers = [model.numbers(sentence) for sentence in sentences]
    for place, words in enumerate(numbers, start=1):
        if len(words) > model.longest_source:
            raise ValueError(
                f"sentence {place} has {len(words)} words, </s> included; the model takes {model.longest_source}"
            )
    order = sorted(range(len(numbers)), key=lambda place: len(numbers[place]))
    translations: list[list[Hypothesis]] = [[] for _ in numbers]
    for start in range(0, len(order), batch):
        places = order[start : start + batch]
        found = beam_search(model, [numbers[place] for place in places], **options)  # type: ignore[arg-type]
        for place, hypotheses in zip(places, found):
            translations[place] = hypotheses
    return translations
