"""The words of the corpus: hand-written tables and a coined tail, drawn by Zipf's law in each class."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

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

__all__ = ["Adjective", "Adverb", "Lexicon", "Noun", "Preposition", "ProperNoun", "TimeExpression", "Verb"]


class Lexicon:
    """All words, and samplers over them; one over several classes ranks words by their rank in each."""

    def __init__(self) -> None:
        coined = list(coined_words())
        self.nouns = read_nouns() + [word for word in coined if isinstance(word, Noun)]
        self.adjectives = read_adjectives() + [word for word in coined if isinstance(word, Adjective)]
        self.proper_nouns = read_proper_nouns() + [word for word in coined if isinstance(word, ProperNoun)]
        self.verbs = read_verbs()
        self.adverbs = read_adverbs()
        self.prepositions = read_prepositions()
        self.times = read_times()
        self.noun_sampler = lru_cache(maxsize=None)(self._noun_sampler)
        self.adjective_sampler = lru_cache(maxsize=None)(self._adjective_sampler)
        self.verb_sampler = lru_cache(maxsize=None)(self._verb_sampler)
        self.proper_sampler = lru_cache(maxsize=None)(self._proper_sampler)
        self.adverb_sampler = lru_cache(maxsize=None)(self._adverb_sampler)
        self.time_sampler = lru_cache(maxsize=None)(self._time_sampler)
        self.preposition_sampler = lru_cache(maxsize=None)(self._preposition_sampler)

    def _noun_sampler(self, classes: frozenset[str], only: str = "") -> Zipf[Noun]:
        ranked: list[tuple[int, int, Noun]] = []
        ranks: dict[str, int] = {}
        for index, noun in enumerate(self.nouns):
            if noun.noun_class in classes and (not only or noun.fr == only):
                ranks[noun.noun_class] = ranks.get(noun.noun_class, 0) + 1
                ranked.append((ranks[noun.noun_class], index, noun))
        return _sampler((noun for _, _, noun in sorted(ranked)), f"noun of class {sorted(classes)}")

    def _adjective_sampler(self, noun_class: str, predicative: bool) -> Zipf[Adjective]:
        found = (
            word
            for word in self.adjectives
            if noun_class in word.classes and not (word.relational if predicative else word.predicative)
        )
        return _sampler(found, f"adjective for {noun_class}")

    def _verb_sampler(self, frames: tuple[str, ...], subject: str | None, object_: str | None) -> Zipf[Verb] | None:
        """Draws verbs that take these classes of subject and object (None: any); None if none does."""
        found = [
            verb
            for verb in self.verbs
            if verb.frame in frames
            and (subject is None or subject in verb.subjects)
            and (object_ is None or (object_ in verb.objects and not verb.only))
        ]
        return Zipf(found) if found else None

    def _proper_sampler(self, kind: str) -> Zipf[ProperNoun]:
        return _sampler((word for word in self.proper_nouns if word.kind == kind), kind)

    def _adverb_sampler(self, kind: str, restricted: bool) -> Zipf[Adverb]:
        found = (word for word in self.adverbs if word.kind == kind and not (restricted and word.restricted))
        return _sampler(found, f"adverb of {kind}")

    def _time_sampler(self, tense: str) -> Zipf[TimeExpression] | None:
        found = [word for word in self.times if tense in word.tenses]
        return Zipf(found) if found else None

    def _preposition_sampler(self) -> Zipf[Preposition]:
        return _sampler(self.prepositions, "preposition")


def _sampler(words: Iterable, what: str) -> Zipf:
    found = list(words)
    if not found:
        raise ValueError(f"the lexicon has no {what}")
    return Zipf(found)


@cache
def lexicon() -> Lexicon:
    """Returns the lexicon, read once a process."""
    return Lexicon()
