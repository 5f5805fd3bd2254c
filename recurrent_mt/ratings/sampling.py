"""Which sentences are rated, with which controls, in which order: all by chance, from one seed.

Some controls are translations made worse on purpose, see `degrade`.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from .study import DEGRADED, FILLER, MODES, REPEAT, SIDE_BY_SIDE, SYSTEM, Item, Screen

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

#: Controls are at least this many screens from their originals, where the page is long enough.
DISTANCE = 10
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
        if len(self.systems) > len(LETTERS):
            raise ValueError(f"{len(self.systems)} systems: at most {len(LETTERS)} can be rated on one page")
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
    repeats: int | None = None  # screens shown twice; None for a tenth of the others, at least 5 where there are enough
    #: screens shown again with one translation degraded; None for a tenth, at least 8 likewise
    degraded: int | None = None
    seed: int = 1  # of all random choices

    def controls(self, screens: int) -> tuple[int, int]:
        """Numbers of repeated and of degraded screens, for so many ordinary ones."""
        tenth = math.ceil(screens / 10)
        repeats = min(max(5, tenth), screens // 2) if self.repeats is None else self.repeats
        degraded = min(max(8, tenth), screens - screens // 2) if self.degraded is None else self.degraded
        if repeats < 0 or degraded < 0:
            raise ValueError(f"{repeats} repeated and {degraded} degraded screens: neither may be negative")
        if repeats + degraded > screens:
            raise ValueError(
                f"{repeats} repeated and {degraded} degraded screens need as many others to be copies of: there are "
                f"{screens}"
            )
        return repeats, degraded


class DraftItem(NamedTuple):
    """A translation on a draft; ``original`` is the index of the item of the copied screen that it is compared with."""

    text: str
    systems: tuple[str, ...]
    kind: str
    original: int | None = None


@dataclass(frozen=True)
class Draft:
    """A screen whose place on the page is not known yet; ``original`` is the screen that a control copies."""

    sentence: int
    items: tuple[DraftItem, ...]
    original: Draft | None = None


def sample_screens(corpus: RatedTexts, sample: Sample) -> tuple[Screen, ...]:
    """Draws sentences, makes the controls, shuffles everything.

    On a side-by-side screen are all translations of one sentence, otherwise one. Systems that translated alike share an
    item. The same arguments give the same screens.

    Raises:
        ValueError: for an unknown mode, if there are not so many sentences, or if the controls cannot be made.
    """
    if sample.mode not in MODES:
        raise ValueError(f"unknown mode {sample.mode!r}: choose one of {', '.join(MODES)}")
    usable = corpus.usable_sentences()
    if not 1 <= sample.sentences <= len(usable):
        raise ValueError(
            f"{sample.sentences} sentences cannot be drawn: only {len(usable)} have a source and a reference that are "
            "not blank; --sentences says how many are rated"
        )
    rng = random.Random(sample.seed)
    ordinary = [
        Draft(sentence, items)
        for sentence in rng.sample(usable, sample.sentences)
        for items in make_ordinary_items(corpus, sentence, sample.mode, rng)
    ]
    rng.shuffle(ordinary)
    controls = make_controls(ordinary, sample.controls(len(ordinary)), corpus, rng)
    return number_screens(insert_controls(ordinary, controls, rng), corpus)


def make_ordinary_items(
    corpus: RatedTexts, sentence: int, mode: str, rng: random.Random
) -> list[tuple[DraftItem, ...]]:
    """The items of each ordinary screen of a sentence, shuffled."""
    makers: dict[str, list[str]] = {}
    for name, translations in corpus.systems.items():
        makers.setdefault(translations[sentence].strip(), []).append(name)
    items = [DraftItem(text, tuple(names), SYSTEM) for text, names in makers.items()]
    rng.shuffle(items)
    return [tuple(items)] if mode == SIDE_BY_SIDE else [(item,) for item in items]


def make_controls(
    ordinary: Sequence[Draft], numbers: tuple[int, int], corpus: RatedTexts, rng: random.Random
) -> list[Draft]:
    """Copies of screens, no screen twice: so many repeated, so many degraded ones.

    Raises:
        ValueError: if too few screens have a translation that can be degraded.
    """
    repeats, degraded = numbers
    candidates = rng.sample(ordinary, len(ordinary))
    worse = (copy for draft in candidates if (copy := degrade_screen(draft, corpus, rng)) is not None)
    damaged = list(islice(worse, degraded))
    if len(damaged) < degraded:
        raise ValueError(
            f"{degraded} degraded screens cannot be made: only {len(damaged)} have a translation whose words could be "
            "replaced by words of other sentences; --degraded says how many, 0 for none"
        )
    copied = [draft.original for draft in damaged]
    repeated = [draft for draft in candidates if draft not in copied][:repeats]
    return [*(repeat_screen(draft, rng) for draft in repeated), *damaged]


def repeat_screen(draft: Draft, rng: random.Random) -> Draft:
    """Returns the same screen, shuffled again."""
    items = [item._replace(kind=REPEAT, original=index) for index, item in enumerate(draft.items)]
    rng.shuffle(items)
    return Draft(draft.sentence, tuple(items), draft)


def degrade_screen(draft: Draft, corpus: RatedTexts, rng: random.Random) -> Draft | None:
    """The same screen, shuffled anew, with one of its translations degraded; None if none of them can be."""
    for target in rng.sample(range(len(draft.items)), len(draft.items)):
        items = [item._replace(kind=FILLER) for item in draft.items]
        translations = corpus.systems[items[target].systems[0]]
        donors = [other for sentence, other in enumerate(translations) if sentence != draft.sentence]
        worse = degrade(items[target].text, donors, rng)
        if worse is not None:
            items[target] = items[target]._replace(text=worse, kind=DEGRADED, original=target)
            rng.shuffle(items)
            return Draft(draft.sentence, tuple(items), draft)
    return None


def insert_controls(ordinary: Sequence[Draft], controls: Sequence[Draft], rng: random.Random) -> list[Draft]:
    """Puts each control at a random place away from its original, before or after it."""
    order = list(ordinary)
    for control in controls:
        original = next(index for index, draft in enumerate(order) if draft is control.original)
        distance = min(DISTANCE, len(order) // 2)
        places = [place for place in range(len(order) + 1) if not original + 1 - distance < place < original + distance]
        order.insert(rng.choice(places), control)
    return order


def number_screens(order: Sequence[Draft], corpus: RatedTexts) -> tuple[Screen, ...]:
    """Gives screens their numbers and items their identifiers."""
    identifiers = {id(draft): name_items(number, draft) for number, draft in enumerate(order, start=1)}
    screens = []
    for number, draft in enumerate(order, start=1):
        originals = identifiers[id(draft.original)] if draft.original else []
        items = tuple(
            Item(identifier, text, systems, kind, None if original is None else originals[original])
            for identifier, (text, systems, kind, original) in zip(identifiers[id(draft)], draft.items, strict=True)
        )
        source = corpus.source[draft.sentence] if corpus.source is not None else None
        reference = corpus.reference[draft.sentence] if corpus.reference is not None else None
        screens.append(Screen(number, draft.sentence + 1, source, reference, items))
    return tuple(screens)


def name_items(number: int, draft: Draft) -> list[str]:
    """Identifiers of the items of a screen."""
    if len(draft.items) == 1:
        return [str(number)]
    return [f"{number}.{letter}" for letter in LETTERS[: len(draft.items)]]


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
        if stretch is not None and stretch.casefold() != text[begin:end].casefold():
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
