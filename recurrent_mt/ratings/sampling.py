"""Which sentences are rated, with which controls, in which order: all by chance, from one seed.

Some controls are translations made worse on purpose, see `degrade`.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from .campaign import DEGRADED, FILLER, SIDE_BY_SIDE, Screen, Translation

#: Han, kana and their extensions are words of one character, for want of spaces; all else is split at white space.
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


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
        if not self.systems:
            raise ValueError("there are no systems to rate")
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


@dataclass(frozen=True)
class Sample:
    """How much is rated."""

    mode: str  # a key of `MODES`
    sentences: int  # how many, drawn without replacement
    #: screens shown again with one translation degraded; None for a tenth, at least 8 where there are enough
    degraded: int | None = None
    annotators: int = 1  # all see the same screens, each in another order
    seed: int = 1  # of all random choices

    def controls(self, screens: int) -> int:
        """Number of degraded screens, for so many ordinary ones."""
        if self.degraded is None:
            return min(max(8, math.ceil(screens / 10)), screens // 2)
        if not 0 <= self.degraded <= screens:
            raise ValueError(
                f"{self.degraded} degraded screens need as many others to be copies of: there are {screens}"
            )
        return self.degraded


def sample_screens(corpus: RatedTexts, sample: Sample) -> list[list[Screen]]:
    """Draws sentences, makes the controls, and shuffles them for each annotator.

    On a side-by-side screen are all translations of one sentence, otherwise one. Systems that translated alike share
    one. The same arguments give the same screens.

    Raises:
        ValueError: if there are no annotators or not so many sentences, or if the controls cannot be made.
    """
    if sample.annotators < 1:
        raise ValueError(f"{sample.annotators} annotators: at least one has to rate")
    usable = corpus.usable_sentences()
    if not 1 <= sample.sentences <= len(usable):
        raise ValueError(
            f"{sample.sentences} sentences cannot be drawn: only {len(usable)} have a source and a reference that are "
            "not blank; --sentences says how many are rated"
        )
    rng = random.Random(sample.seed)
    ordinary = [
        screen
        for sentence in rng.sample(usable, sample.sentences)
        for screen in make_ordinary_screens(corpus, sentence, sample.mode)
    ]
    controls = make_controls(ordinary, sample.controls(len(ordinary)), corpus, rng)
    return [order_screens(ordinary, controls, rng) for _ in range(sample.annotators)]


def make_ordinary_screens(corpus: RatedTexts, sentence: int, mode: str) -> list[Screen]:
    """The ordinary screens of a sentence."""
    makers: dict[str, list[str]] = {}
    for name, lines in corpus.systems.items():
        makers.setdefault(lines[sentence].strip(), []).append(name)
    translations = [Translation(text, tuple(names)) for text, names in makers.items()]
    source = corpus.source[sentence] if corpus.source is not None else None
    reference = corpus.reference[sentence] if corpus.reference is not None else None
    shown = [tuple(translations)] if mode == SIDE_BY_SIDE else [(each,) for each in translations]
    return [Screen(sentence + 1, source, reference, together) for together in shown]


def make_controls(
    ordinary: Sequence[Screen], count: int, corpus: RatedTexts, rng: random.Random
) -> dict[Screen, Screen]:
    """So many screens, drawn by chance, each with a copy of it that has a degraded translation.

    Raises:
        ValueError: if too few screens have a translation that can be degraded.
    """
    drawn = ((screen, degrade_screen(screen, corpus, rng)) for screen in rng.sample(ordinary, len(ordinary)))
    controls = dict(islice(((screen, worse) for screen, worse in drawn if worse is not None), count))
    if len(controls) < count:
        raise ValueError(
            f"{count} degraded screens cannot be made: only {len(controls)} have a translation whose words could be "
            "replaced by words of other sentences; --degraded says how many, 0 for none"
        )
    return controls


def degrade_screen(screen: Screen, corpus: RatedTexts, rng: random.Random) -> Screen | None:
    """The same screen with one of its translations degraded; None if none of them can be."""
    for target in rng.sample(screen.translations, len(screen.translations)):
        sentences = corpus.systems[target.systems[0]]
        donors = [other for number, other in enumerate(sentences, start=1) if number != screen.sentence]
        worse = degrade(target.text, donors, rng)
        if worse is not None:
            copies = (
                replace(each, text=worse, kind=DEGRADED) if each is target else replace(each, kind=FILLER)
                for each in screen.translations
            )
            return replace(screen, translations=tuple(copies))
    return None


def order_screens(ordinary: Sequence[Screen], controls: Mapping[Screen, Screen], rng: random.Random) -> list[Screen]:
    """Shuffles the ordinary screens, and puts each control half of them away from its original."""
    shuffled = rng.sample(ordinary, len(ordinary))
    order = []
    for place, screen in enumerate(shuffled):
        order.append(screen)
        opposite = shuffled[place - len(shuffled) // 2]
        if opposite in controls:
            order.append(controls[opposite])
    return order


def count_replaced_words(words: int) -> int:
    """How many words of a translation of so many words are replaced."""
    for longest, replaced in ((3, 1), (5, 2), (7, 3), (14, 4), (19, 5)):
        if words <= longest:
            return replaced
    return words // 4


def degrade(text: str, donors: Sequence[str], rng: random.Random) -> str | None:
    """Replaces a stretch of words by one of the same length out of another sentence.

    The result is what direct assessment calls a bad reference: mostly fluent, so that the damage is found by reading
    only. How many words, and that the first and the last word stay where there are three or more, follows the code of
    Graham et al. 2016 ("Is all That Glitters in Machine Translation Quality Estimation really Gold?",
    ``bad-refs.py``). They take the new words from references; here they come from other translations of the same
    system, so that capitals and punctuation do not give them away.

    Args:
        text: the translation.
        donors: the other sentences.
        rng: the source of random choices.

    Returns:
        The worse translation; None if it is empty or no other sentence has such a stretch of other words.
    """
    spans = find_words(text)
    if not spans:
        return None
    count = count_replaced_words(len(spans))
    first = rng.randint(*bound_start(len(spans), count))
    begin, end = spans[first][0], spans[first + count - 1][1]
    for donor in rng.sample(donors, len(donors)):
        stretch = pick_stretch(donor, count, rng)
        if stretch is not None and stretch.casefold().split() != text[begin:end].casefold().split():
            return text[:begin] + stretch + text[end:]
    return None


def bound_start(words: int, count: int) -> tuple[int, int]:
    """Where the replaced stretch may start: inside the first and the last word where there is room."""
    if words >= count + 2:
        return 1, words - 1 - count
    return words - count, words - count


def pick_stretch(text: str, count: int, rng: random.Random) -> str | None:
    """So many successive words of the text, without its first and last; None if it is too short."""
    spans = find_words(text)[1:-1]
    if len(spans) < count:
        return None
    first = rng.randint(0, len(spans) - count)
    return text[spans[first][0] : spans[first + count - 1][1]]


def find_words(text: str) -> list[tuple[int, int]]:
    """Begin and end of each word in the text."""
    return [match.span() for match in WORD.finditer(text)]
