"""The words of the corpus: hand-written tables and a coined tail, drawn by Zipf's law in each class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from ..sampling import Zipf
from .coinage import coined_words
from .entries import Adjective, Adverb, Noun, Preposition, ProperNoun, TimeExpression, Verb
from .tables import (
    read_adjectives,
    read_adverbs,
    read_nouns,
    read_prepositions,
    read_proper_nouns,
    read_times,
    read_verbs,
)


@dataclass(frozen=True)
class Lexicon:
    """All words, the most frequent of each class first."""

    nouns: list[Noun]
    adjectives: list[Adjective]
    proper_nouns: list[ProperNoun]
    verbs: list[Verb]
    adverbs: list[Adverb]
    prepositions: list[Preposition]
    times: list[TimeExpression]


@cache
def lexicon() -> Lexicon:
    """Returns the lexicon, read once a process."""
    coined = list(coined_words())
    return Lexicon(
        nouns=read_nouns() + [word for word in coined if isinstance(word, Noun)],
        adjectives=read_adjectives() + [word for word in coined if isinstance(word, Adjective)],
        proper_nouns=read_proper_nouns() + [word for word in coined if isinstance(word, ProperNoun)],
        verbs=read_verbs(),
        adverbs=read_adverbs(),
        prepositions=read_prepositions(),
        times=read_times(),
    )


@cache
def sample_nouns(classes: frozenset[str], only: str = "") -> Zipf[Noun]:
    """Draws nouns of several classes, ranked by their rank in each; ``only`` is the one French noun allowed."""
    ranks: Counter[str] = Counter()
    ranked: list[tuple[int, int, Noun]] = []
    for index, noun in enumerate(lexicon().nouns):
        if noun.noun_class in classes and (not only or noun.fr == only):
            ranks[noun.noun_class] += 1
            ranked.append((ranks[noun.noun_class], index, noun))
    return Zipf([noun for _, _, noun in sorted(ranked)])


@cache
def sample_adjectives(noun_class: str, predicative: bool) -> Zipf[Adjective]:
    """Draws adjectives for a class of nouns, for use after *to be* or before a noun."""
    return Zipf(
        [
            word
            for word in lexicon().adjectives
            if noun_class in word.classes and not (word.relational if predicative else word.predicative)
        ]
    )


@cache
def sample_verbs(frames: tuple[str, ...], subject: str | None, object_: str | None) -> Zipf[Verb] | None:
    """Draws verbs that take these classes of subject and object (None: any); None if none does."""
    return _zipf_or_none(
        verb
        for verb in lexicon().verbs
        if verb.frame in frames
        and (subject is None or subject in verb.subjects)
        and (object_ is None or (object_ in verb.objects and not verb.only))
    )


@cache
def sample_proper_nouns(kind: str) -> Zipf[ProperNoun]:
    """Draws given names, surnames, towns or countries."""
    return Zipf([word for word in lexicon().proper_nouns if word.kind == kind])


@cache
def sample_adverbs(kind: str, unrestricted: bool) -> Zipf[Adverb]:
    """Draws adverbs of a kind, perhaps only those that go everywhere."""
    return Zipf([word for word in lexicon().adverbs if word.kind == kind and not (unrestricted and word.restricted)])


@cache
def sample_times(tense: str) -> Zipf[TimeExpression] | None:
    """Draws time expressions that fit a tense; None if none does."""
    return _zipf_or_none(word for word in lexicon().times if tense in word.tenses)


@cache
def sample_prepositions() -> Zipf[Preposition]:
    """Draws prepositions of place."""
    return Zipf(lexicon().prepositions)


def _zipf_or_none(words: Iterable) -> Zipf | None:
    found = list(words)
    return Zipf(found) if found else None
