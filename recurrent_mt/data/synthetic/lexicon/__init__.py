"""The words of the corpus: hand-written tables and a coined tail, drawn by Zipf's law in each class.

A table's columns are the fields of a class of :mod:`..meaning`.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from ..meaning import Adjective, Adverb, Conjugation, Noun, Preposition, ProperNoun, TimeExpression, Verb
from ..sampling import Rng, Weighted, zipf

Word = TypeVar("Word")

_TABLES: dict[type, str] = {
    Noun: "nouns",
    Verb: "verbs",
    Conjugation: "conjugations",
    Adjective: "adjectives",
    Adverb: "adverbs",
    Preposition: "prepositions",
    ProperNoun: "proper_nouns",
    TimeExpression: "times",
}
_GROUPS = {
    "living": "person animal",
    "artifact": "thing device furniture text clothing vehicle",
    "locale": "building place",
    "anything": "person animal food drink thing device furniture text show clothing vehicle building place "
    "plant idea event",
}


def rows(name: str) -> list[dict[str, str]]:
    """Returns the rows of a table as dictionaries; cells missing at the end of a line are empty."""
    with (Path(__file__).parent / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE, restval=""))


def noun_classes(text: str) -> frozenset[str]:
    """Returns the noun classes that ``a|b`` names, groups such as ``living`` spelled out."""
    return frozenset(word for name in text.split("|") for word in _GROUPS.get(name, name).split())


def read(kind: type[Word]) -> list[Word]:
    """Reads the table of a kind: texts, ``yes`` or nothing, ``a|b`` of noun classes, and words between spaces."""
    convert: dict[Any, Any] = {str: str, bool: bool, frozenset[str]: noun_classes, tuple[str, ...]: _split}
    types = get_type_hints(kind)
    return [kind(**{field: convert[types[field]](cell) for field, cell in row.items()}) for row in rows(_TABLES[kind])]


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@cache
def conjugations() -> dict[str, Conjugation]:
    """Returns the forms of all French verbs, by their infinitives."""
    return {forms.infinitive: forms for forms in read(Conjugation)}


_LANGUAGE_SEED = 2014
_CODAS = (("", ""), ("", ""), ("n", "恩"), ("l", "尔"), ("s", "斯"), ("r", "尔"))
_SURNAMES, _TOWNS, _COUNTRIES, _BRANDS = 1500, 350, 160, 240


@cache
def coined_words() -> list[Noun | Adjective | ProperNoun]:
    """Returns the coined nouns, adjectives and proper nouns in a fixed, mixed order."""
    coined = [*_learned_words(), *_prefixed_nouns(), *_names()]
    rng = Rng(_LANGUAGE_SEED)
    keyed = [(rng.random(), index) for index in range(len(coined))]
    return [coined[index] for _, index in sorted(keyed)]


def _english_plural(noun: str) -> str:
    if noun.endswith("y"):
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith("s") else "s")


def _french_plural(noun: str) -> str:
    if noun.endswith("al"):
        return noun[:-1] + "ux"
    return noun + ("x" if noun.endswith(("au", "eu")) else "" if noun.endswith("s") else "s")


def _noun(noun_class: str, gender: str, measure: str, *, fr: str, en: str, zh: str) -> Noun:
    return Noun(noun_class, fr, _french_plural(fr), gender, en, _english_plural(en), zh, measure)


def _learned_words() -> Iterator[Noun | Adjective]:
    """Greek roots and endings: *biologie*, *thermomètre*, *archéologique*."""
    for root, ending in product(rows("roots"), rows("suffixes")):
        fr, en, zh = (root[language] + ending[language] for language in ("fr", "en", "zh"))
        if ending["entry"] == "adjective":
            yield Adjective(fr, fr + "s", fr, en, zh, noun_classes(ending["classes"]), relational=True)
        else:
            yield _noun(ending["entry"], ending["gender"], ending["measure"], fr=fr, en=en, zh=zh)


def _prefixed_nouns() -> Iterator[Noun]:
    """*ex-ministre*, *mini-voiture*: a prefix on a noun of the tables."""
    nouns = read(Noun)
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
        yield Noun(noun_class, latin, latin, gender, latin, _english_plural(latin), chinese, measure)
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
    masculine = stem.lower() + "ien"
    yield Adjective(masculine, masculine + "s", masculine + "ne", stem + "ian", country, classes, relational=True)


@cache
def words(kind: type[Word]) -> list[Word]:
    """Returns all words of a kind, those of its table and then the coined ones."""
    return read(kind) + [word for word in coined_words() if isinstance(word, kind)]


@cache
def sample_nouns(classes: frozenset[str], only: str = "") -> Weighted[Noun]:
    """Draws nouns of several classes, ranked by their rank in each; ``only`` is the one French noun allowed."""
    ranks: Counter[str] = Counter()
    ranked: list[tuple[int, int, Noun]] = []
    for index, noun in enumerate(words(Noun)):
        if noun.noun_class in classes and (not only or noun.fr == only):
            ranks[noun.noun_class] += 1
            ranked.append((ranks[noun.noun_class], index, noun))
    return zipf([noun for _, _, noun in sorted(ranked)])


@cache
def sample_adjectives(noun_class: str, predicative: bool) -> Weighted[Adjective]:
    """Draws adjectives for a class of nouns, for use after *to be* or before a noun."""
    fitting = [word for word in words(Adjective) if noun_class in word.classes]
    return zipf([word for word in fitting if not (word.relational if predicative else word.predicative)])


@cache
def sample_verbs(frames: tuple[str, ...], subject: str | None, object_: str | None) -> Weighted[Verb] | None:
    """Draws verbs that take these classes of subject and object (None: any); None if none does."""
    verbs = [
        verb
        for verb in words(Verb)
        if verb.frame in frames
        and (subject is None or subject in verb.subjects)
        and (object_ is None or (object_ in verb.objects and not verb.only))
    ]
    return zipf(verbs) if verbs else None


@cache
def sample_proper_nouns(kind: str) -> Weighted[ProperNoun]:
    """Draws given names, surnames, towns or countries."""
    return zipf([word for word in words(ProperNoun) if word.kind == kind])


@cache
def sample_adverbs(kind: str, unrestricted: bool) -> Weighted[Adverb]:
    """Draws adverbs of a kind, perhaps only those that go everywhere."""
    return zipf([word for word in words(Adverb) if word.kind == kind and not (unrestricted and word.restricted)])


@cache
def sample_times(tense: str) -> Weighted[TimeExpression] | None:
    """Draws time expressions that fit a tense; None if none does."""
    times = [time for time in words(TimeExpression) if tense in time.tenses]
    return zipf(times) if times else None


@cache
def sample_prepositions() -> Weighted[Preposition]:
    """Draws prepositions of place."""
    return zipf(words(Preposition))
