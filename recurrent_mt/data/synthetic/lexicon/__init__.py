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
    "anything": "person animal food thing device furniture text clothing vehicle building place plant idea",
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
def conjugation(infinitive: str) -> Conjugation:
    """Returns the forms of a French verb: from the table, or those of a regular verb in -er."""
    for irregular in read(Conjugation):
        if irregular.infinitive == infinitive:
            return irregular
    stem = infinitive.removesuffix("er")
    return Conjugation(
        infinitive,
        present=tuple(stem + ending for ending in ("e", "es", "e", "ons", "ez", "ent")),
        imperfect=tuple(stem + ending for ending in ("ais", "ais", "ait", "ions", "iez", "aient")),
        future=tuple(infinitive + ending for ending in ("ai", "as", "a", "ons", "ez", "ont")),
        participle=stem + "é",
    )


_LANGUAGE_SEED = 2014
_CODAS = (("", ""), ("", ""), ("n", "恩"), ("l", "尔"), ("s", "斯"), ("r", "尔"))
_SURNAMES, _TOWNS, _COUNTRIES, _STRANGE_THINGS = 1800, 400, 120, 330
_STRANGE = {
    "vehicle": "辆",
    "device": "台",
    "animal": "只",
    "food": "个",
    "plant": "株",
    "clothing": "件",
    "thing": "个",
}
_YEARS = {"past": range(2020, 1920, -1), "future": range(2031, 2081)}


@cache
def coined_words() -> list[Noun | Adjective | ProperNoun]:
    """Returns the coined nouns, adjectives and proper nouns in a fixed, mixed order."""
    coined = [*_prefixed_nouns(), *_names()]
    rng = Rng(_LANGUAGE_SEED)
    keyed = [(rng.random(), index) for index in range(len(coined))]
    return [coined[index] for _, index in sorted(keyed)]


def _noun(noun_class: str, gender: str, measure: str, *, fr: str, en: str, zh: str) -> Noun:
    fr_plural, en_plural = (fr, en + "es") if fr.endswith("s") else (fr + "s", en + "s")
    return Noun(noun_class, fr, fr_plural, gender, en, en_plural, zh, measure)


def _prefixed_nouns() -> Iterator[Noun]:
    """*ex-ministre*, *mini-voiture*: a prefix on a noun of the tables."""
    for prefix, noun in product(rows("prefixes"), read(Noun)):
        if noun.noun_class in noun_classes(prefix["classes"]):
            forms = ("fr", "fr_plural", "en", "en_plural", "zh")
            yield replace(noun, **{form: prefix[form[:2]] + getattr(noun, form) for form in forms})


def _names() -> Iterator[Noun | Adjective | ProperNoun]:
    """Surnames, towns, strange things, and countries' people and adjectives: *un Malvien*, *malvien*."""
    rng = Rng(_LANGUAGE_SEED + 1)
    made = _make_names(rng)
    for kind, number in (("surname", _SURNAMES), ("town", _TOWNS)):
        for _ in range(number):
            latin, chinese = next(made)
            yield ProperNoun(kind, latin.capitalize(), latin.capitalize(), chinese)
    for (noun_class, measure), _ in product(_STRANGE.items(), range(_STRANGE_THINGS)):
        latin, chinese = next(made)
        yield _noun(noun_class, rng.pick("mf"), measure, fr=latin, en=latin, zh=chinese)
    classes = noun_classes("person|food|text|clothing|vehicle|locale")
    for _ in range(_COUNTRIES):
        latin, chinese = next(made)
        stem, country = latin.capitalize().rstrip("aeiou"), chinese + "亚"
        for gender, ending in (("m", "ien"), ("f", "ienne")):
            yield _noun("person", gender, "个", fr=stem + ending, en=stem + "ian", zh=country + "人")
        masculine = stem.lower() + "ien"
        yield Adjective(masculine, masculine + "s", masculine + "ne", stem + "ian", country, classes, relational=True)


def _make_names(rng: Rng) -> Iterator[tuple[str, str]]:
    """Yields pronounceable names and their transliterations without end, each once."""
    syllables = rows("syllables")
    made: set[str] = set()
    while True:
        latin = chinese = ""
        for _ in range(rng.pick((2, 3))):
            row, vowel = rng.pick(syllables), rng.pick("aeiou")
            coda, coda_chinese = rng.pick(_CODAS)
            latin += row["onset"] + vowel + coda
            chinese += row[vowel] + coda_chinese
        stem = latin.rstrip("aeiou")
        if len(stem) > 2 and made.isdisjoint((stem, chinese)):
            made |= {stem, chinese}
            yield latin, chinese


@cache
def words(kind: type[Word]) -> list[Word]:
    """Returns all words of a kind, those of its table and then the coined ones."""
    return read(kind) + [word for word in coined_words() if isinstance(word, kind)]


@cache
def sample_nouns(classes: frozenset[str]) -> Weighted[Noun]:
    """Draws nouns of several classes, ranked by their rank in each."""
    ranks: Counter[str] = Counter()
    ranked: list[tuple[int, int, Noun]] = []
    for index, noun in enumerate(words(Noun)):
        if noun.noun_class in classes:
            ranks[noun.noun_class] += 1
            ranked.append((ranks[noun.noun_class], index, noun))
    return zipf([noun for _, _, noun in sorted(ranked)])


@cache
def sample_adjectives(noun_class: str, *, predicative: bool) -> Weighted[Adjective]:
    """Draws adjectives for a class of nouns, for use after *to be* or before a noun."""
    fitting = [word for word in words(Adjective) if noun_class in word.classes]
    return zipf([word for word in fitting if not (predicative and word.relational)])


@cache
def sample_verbs(frame: str, subject: str | None, object_: str | None) -> Weighted[Verb]:
    """Draws verbs that take these classes of subject and object (None: any); there may be none."""
    verbs = [verb for verb in words(Verb) if verb.frame == frame]
    verbs = [verb for verb in verbs if subject is None or subject in verb.subjects]
    return zipf([verb for verb in verbs if object_ is None or object_ in verb.objects])


@cache
def sample_proper_nouns(kind: str) -> Weighted[ProperNoun]:
    """Draws given names, surnames or towns."""
    return zipf([word for word in words(ProperNoun) if word.kind == kind])


@cache
def sample_adverbs(kind: str) -> Weighted[Adverb]:
    """Draws adverbs of degree or manner."""
    return zipf([word for word in words(Adverb) if word.kind == kind])


@cache
def sample_times(tense: str) -> Weighted[TimeExpression]:
    """Draws time expressions that fit a tense: those of the table, and years."""
    times = [time for time in words(TimeExpression) if tense in time.tenses]
    for year in _YEARS.get(tense, ()):
        digits = f"{year}/NUM/2"
        times.append(
            TimeExpression(("en/ADP/1", digits), ("in/ADP/1", digits), (digits, "年/NOUN/1"), frozenset([tense]))
        )
    return zipf(times)


@cache
def sample_prepositions() -> Weighted[Preposition]:
    """Draws prepositions of place."""
    return zipf(words(Preposition))
