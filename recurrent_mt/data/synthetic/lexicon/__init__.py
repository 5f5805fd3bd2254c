"""The words of the corpus: hand-written tables and a coined tail, drawn by Zipf's law in each class."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

from ..sampling import Weighted, zipf
from .coinage import coined_words
from .entries import Adjective, Adverb, Noun, Preposition, ProperNoun, TimeExpression, Verb
from .tables import noun_classes, read_adjectives, read_nouns, read_times, read_verbs, rows


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
    names = [ProperNoun(**row) for row in rows("proper_nouns")]
    return Lexicon(
        nouns=read_nouns() + [word for word in coined if isinstance(word, Noun)],
        adjectives=read_adjectives() + [word for word in coined if isinstance(word, Adjective)],
        proper_nouns=names + [word for word in coined if isinstance(word, ProperNoun)],
        verbs=read_verbs(),
        adverbs=[Adverb(restricted=row.pop("options") == "restricted", **row) for row in rows("adverbs")],
        prepositions=[Preposition(classes=noun_classes(row.pop("classes")), **row) for row in rows("prepositions")],
        times=read_times(),
    )


@cache
def sample_nouns(classes: frozenset[str], only: str = "") -> Weighted[Noun]:
    """Draws nouns of several classes, ranked by their rank in each; ``only`` is the one French noun allowed."""
    ranks: Counter[str] = Counter()
    ranked: list[tuple[int, int, Noun]] = []
    for index, noun in enumerate(lexicon().nouns):
        if noun.noun_class in classes and (not only or noun.fr == only):
            ranks[noun.noun_class] += 1
            ranked.append((ranks[noun.noun_class], index, noun))
    return zipf([noun for _, _, noun in sorted(ranked)])


@cache
def sample_adjectives(noun_class: str, predicative: bool) -> Weighted[Adjective]:
    """Draws adjectives for a class of nouns, for use after *to be* or before a noun."""
    words = [word for word in lexicon().adjectives if noun_class in word.classes]
    return zipf([word for word in words if not (word.relational if predicative else word.predicative)])


@cache
def sample_verbs(frames: tuple[str, ...], subject: str | None, object_: str | None) -> Weighted[Verb] | None:
    """Draws verbs that take these classes of subject and object (None: any); None if none does."""
    verbs = [
        verb
        for verb in lexicon().verbs
        if verb.frame in frames
        and (subject is None or subject in verb.subjects)
        and (object_ is None or (object_ in verb.objects and not verb.only))
    ]
    return zipf(verbs) if verbs else None


@cache
def sample_proper_nouns(kind: str) -> Weighted[ProperNoun]:
    """Draws given names, surnames, towns or countries."""
    return zipf([word for word in lexicon().proper_nouns if word.kind == kind])


@cache
def sample_adverbs(kind: str, unrestricted: bool) -> Weighted[Adverb]:
    """Draws adverbs of a kind, perhaps only those that go everywhere."""
    return zipf([word for word in lexicon().adverbs if word.kind == kind and not (unrestricted and word.restricted)])


@cache
def sample_times(tense: str) -> Weighted[TimeExpression] | None:
    """Draws time expressions that fit a tense; None if none does."""
    times = [time for time in lexicon().times if tense in time.tenses]
    return zipf(times) if times else None


@cache
def sample_prepositions() -> Weighted[Preposition]:
    """Draws prepositions of place."""
    return zipf(lexicon().prepositions)
