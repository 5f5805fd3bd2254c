"""The kinds of words: each entry is one concept with its French, English and Chinese side."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Noun:
    """A common noun with its French gender, the sex of a person, and its Chinese measure word."""

    noun_class: str
    fr: str
    fr_plural: str
    gender: str
    en: str
    en_plural: str
    zh: str
    measure: str
    mass: bool = False


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb and what it asks for.

    ``frame`` is transitive, oblique (object after a preposition), dative (a person after *à*), ditransitive,
    intransitive, clausal or modal. ``subjects`` and ``objects`` are noun classes. Chinese is split around
    its object: ``zh_before`` precedes the object, ``zh_after`` follows it, and ``zh`` (in one of the
    two) is the verb proper, the word that 了 follows.
    """

    frame: str
    fr: str
    fr_preposition: str
    etre: bool
    en: str
    en_past: str
    en_participle: str
    en_particle: str
    en_preposition: str
    zh: str
    zh_before: tuple[str, ...]
    zh_after: tuple[str, ...]
    subjects: frozenset[str]
    objects: frozenset[str]
    only: str
    stative: bool
    passive: bool
    progressive: bool


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective, ``before`` its French noun or not; a relational one has no degree and is no predicate."""

    fr: str
    feminine: str
    liaison: str | None
    comparative: str | None
    en: str
    en_comparative: str | None
    zh: str
    before: bool
    classes: frozenset[str]
    relational: bool
    predicative: bool


@dataclass(frozen=True, eq=False)
class Adverb:
    """An adverb of frequency, degree or manner.

    ``restricted``: a frequency that cannot be negated, or a degree that cannot go with an adjective before
    its noun.
    """

    kind: str
    fr: str
    en: str
    zh: str
    restricted: bool = False


@dataclass(frozen=True, eq=False)
class Preposition:
    """A preposition of place, which Chinese expresses with 在 and a postposition."""

    fr: str
    en: str
    zh: str
    classes: frozenset[str]


@dataclass(frozen=True, eq=False)
class ProperNoun:
    """A given name, a surname, a town or a country (kind), with its form in each language."""

    kind: str
    fr: str
    en: str
    zh: str
    gender: str = "m"


@dataclass(frozen=True, eq=False)
class TimeExpression:
    """A time expression: words as (token, part of speech, keys); a key shared by two languages aligns."""

    fr: tuple[tuple[str, str, tuple[str, ...]], ...]
    en: tuple[tuple[str, str, tuple[str, ...]], ...]
    zh: tuple[tuple[str, str, tuple[str, ...]], ...]
    tenses: frozenset[str]
