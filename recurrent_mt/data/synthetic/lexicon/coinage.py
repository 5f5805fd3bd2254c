"""Makes the tail of the lexicon: thousands of words built by rule from a few tables.

Derivations keep a rule-governed correspondence (*géologue*, *geologist*, 地质学家); coined names are spelled
alike in French and English and transliterated syllable by syllable into Chinese. The words are the same for
every seed of the corpus: the seed chooses sentences, not the language.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from ..english_morphology import regular_plural
from ..french_morphology import regular_feminine
from ..french_morphology import regular_plural as french_plural
from ..sampling import Rng
from .entries import Adjective, Noun, ProperNoun
from .tables import noun_classes, read_nouns, rows

_LANGUAGE_SEED = 2014
_CODAS = (("", ""), ("", ""), ("n", "恩"), ("l", "尔"), ("s", "斯"), ("r", "尔"))
_SURNAMES, _TOWNS, _COUNTRIES, _BRANDS = 1500, 350, 160, 240


def coined_words() -> Iterator[Noun | Adjective | ProperNoun]:
    """Yields the coined nouns, adjectives and proper nouns in a fixed, mixed order."""
    coined = [*_learned_words(), *_prefixed_nouns(), *_names()]
    rng = Rng(_LANGUAGE_SEED)
    keyed = [(rng.random(), index) for index in range(len(coined))]
    return (coined[index] for _, index in sorted(keyed))


def _noun(noun_class: str, gender: str, measure: str, *, fr: str, en: str, zh: str) -> Noun:
    return Noun(noun_class, fr, french_plural(fr), gender, en, regular_plural(en), zh, measure)


def _relational_adjective(classes: frozenset[str], *, fr: str, en: str, zh: str) -> Adjective:
    return Adjective(fr, regular_feminine(fr), None, None, en, None, zh, False, classes, True, False)


def _learned_words() -> Iterator[Noun | Adjective]:
    """Greek roots and endings: *biologie*, *thermomètre*, *archéologique*."""
    for root, ending in product(rows("roots"), rows("suffixes")):
        forms = {language: root[language] + ending[language] for language in ("fr", "en", "zh")}
        if ending["entry"] == "adjective":
            yield _relational_adjective(noun_classes(ending["classes"]), **forms)
        else:
            yield _noun(ending["entry"], ending["gender"], ending["measure"], **forms)


def _prefixed_nouns() -> Iterator[Noun]:
    """*ex-ministre*, *mini-voiture*: a prefix on a noun of the tables."""
    nouns = read_nouns()
    for prefix in rows("prefixes"):
        classes = noun_classes(prefix["classes"])
        for noun in nouns:
            if noun.noun_class in classes and not noun.mass:
                forms = {
                    form: prefix[form[:2]] + getattr(noun, form)
                    for form in ("fr", "fr_plural", "en", "en_plural", "zh")
                }
                yield replace(noun, **forms)


class _NameMaker:
    """Makes pronounceable names, each once."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._syllables = rows("syllables")
        self._made: set[str] = set()

    def make(self, *, open_ending: bool = False) -> tuple[str, str]:
        """Returns a new name, with ``open_ending`` one for endings to join, and its transliteration."""
        while True:
            latin = chinese = ""
            for _ in range(self._rng.integer(2, 3)):
                row = self._rng.pick(self._syllables)
                vowel = self._rng.pick("aeiou")
                coda, coda_chinese = self._rng.pick(_CODAS)
                latin += row["onset"] + vowel + coda
                chinese += row[vowel] + coda_chinese
            if open_ending:
                latin = latin.rstrip("aeiou")
            if len(latin) > 3 and self._made.isdisjoint((latin, chinese)):
                self._made |= {latin, chinese}
                return latin.capitalize(), chinese


def _names() -> Iterator[Noun | Adjective | ProperNoun]:
    maker = _NameMaker(Rng(_LANGUAGE_SEED + 1))
    for _ in range(_SURNAMES):
        latin, chinese = maker.make()
        yield ProperNoun("surname", latin, latin, chinese)
    for _ in range(_TOWNS):
        latin, chinese = maker.make()
        yield ProperNoun("town", latin, latin, chinese)
    for number in range(_BRANDS):
        latin, chinese = maker.make()
        noun_class, gender, measure = (("vehicle", "f", "辆"), ("device", "m", "台"))[number % 2]
        yield Noun(noun_class, latin, latin, gender, latin, regular_plural(latin), chinese, measure)
    for _ in range(_COUNTRIES):
        yield from _country(*maker.make(open_ending=True))


def _country(stem: str, chinese: str) -> Iterator[Noun | Adjective | ProperNoun]:
    """A country with its people and its adjective: *la Malvie*, *un Malvien*, *malvien*."""
    country = chinese + "亚"
    yield ProperNoun("country", stem + "ie", stem + "ia", country, "f")
    for gender in "mf":
        citizen = stem + ("ien" if gender == "m" else "ienne")
        yield _noun("person", gender, "个", fr=citizen, en=stem + "ian", zh=country + "人")
    classes = noun_classes("person|food|drink|text|show|clothing|vehicle|locale")
    yield _relational_adjective(classes, fr=stem.lower() + "ien", en=stem + "ian", zh=country)
