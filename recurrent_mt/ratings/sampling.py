"""Which sentences are rated, in which order: all by chance, from one seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .campaign import SIDE_BY_SIDE, Screen, Translation


@dataclass(frozen=True)
class RatedTexts:
    """What is rated: translations of a text, one string a sentence."""

    source: Sequence[str] | None  # None if it is not to be shown
    reference: Sequence[str] | None  # None if it is not to be shown
    systems: Mapping[str, Sequence[str]]  # name -> translations

    def __post_init__(self) -> None:
        """Refuses what cannot be rated, by name."""
        if self.source is None and self.reference is None:
            raise ValueError("nothing to compare translations with: give the source, the reference, or both")
        for name in self.systems:
            if name.isdigit() or " = " in name or set(name) & set('"&<'):
                raise ValueError(f'system {name}: a name that is a number, or has ", &, <, or " = ", cannot be rated')
        texts = {"source": self.source, "reference": self.reference}
        texts |= {f"system {name}": lines for name, lines in self.systems.items()}
        counts = {name: len(lines) for name, lines in texts.items() if lines is not None}
        if len(set(counts.values())) != 1:
            raise ValueError("not as many sentences in each: " + ", ".join(f"{n} has {c}" for n, c in counts.items()))

    def usable_sentences(self) -> list[int]:
        """Sentences, from 0, whose source and reference are not blank: the others cannot be judged."""
        shown = [lines for lines in (self.source, self.reference) if lines is not None]
        return [index for index in range(len(shown[0])) if all(lines[index].strip() for lines in shown)]


def sample_screens(
    corpus: RatedTexts, mode: str, sentences: int, *, annotators: int = 1, seed: int = 1
) -> list[list[Screen]]:
    """Draws sentences, and shuffles their screens for each annotator.

    On a side-by-side screen are all translations of one sentence, otherwise one. Systems that translated alike share
    one. The same arguments give the same screens.

    Args:
        corpus: what is rated.
        mode: a key of `MODES`.
        sentences: how many, drawn without replacement.
        annotators: all see the same screens, each in another order.
        seed: of all random choices.

    Raises:
        ValueError: if there are not so many sentences.
    """
    usable = corpus.usable_sentences()
    if not 1 <= sentences <= len(usable):
        raise ValueError(
            f"{sentences} sentences cannot be drawn: only {len(usable)} have a source and a reference that are "
            "not blank; --sentences says how many are rated"
        )
    rng = random.Random(seed)
    screens = [screen for sentence in rng.sample(usable, sentences) for screen in make_screens(corpus, sentence, mode)]
    return [rng.sample(screens, len(screens)) for _ in range(annotators)]


def make_screens(corpus: RatedTexts, sentence: int, mode: str) -> list[Screen]:
    """The screens of a sentence."""
    makers: dict[str, list[str]] = {}
    for name, lines in corpus.systems.items():
        makers.setdefault(lines[sentence].strip(), []).append(name)
    translations = [Translation(text, tuple(names)) for text, names in makers.items()]
    source = corpus.source[sentence] if corpus.source is not None else None
    reference = corpus.reference[sentence] if corpus.reference is not None else None
    shown = [tuple(translations)] if mode == SIDE_BY_SIDE else [(each,) for each in translations]
    return [Screen(sentence + 1, source, reference, together) for together in shown]
