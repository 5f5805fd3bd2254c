"""Composes noun phrases of about a given number of words."""

from __future__ import annotations

from abc import ABC, abstractmethod

from .lexicon import sample_adjectives, sample_adverbs, sample_nouns, sample_prepositions, sample_proper_nouns
from .meaning import Clause, Coordination, Location, Modifier, Name, Nominal, Noun, NounPhrase, PlaceName, Pronoun
from .sampling import Rng, Weighted

_DETERMINERS = Weighted(
    ["definite", "indefinite", "demonstrative", "possessive", "each", "several", "few", "many", "numeral"],
    [48, 20, 7, 8, 2, 3, 3, 3, 6],
)
_PERSONS = Weighted([(1, False), (2, False), (3, False), (1, True), (2, True), (3, True)], [18, 8, 40, 11, 6, 17])
_NUMBERED = ("several", "few", "many", "numeral")
_OF_MASS = {"each": "definite", **dict.fromkeys(("indefinite", "several", "few", "numeral"), "partitive")}
_SUBJECTS = {
    **{"animal": 30, "vehicle": 10, "device": 6, "building": 6, "thing": 7, "text": 7, "show": 5, "idea": 8},
    **{"event": 5, "food": 5, "drink": 2, "place": 5, "clothing": 5, "furniture": 4, "plant": 5},
}
_SUBJECT_CLASSES = Weighted([frozenset([name]) for name in _SUBJECTS], list(_SUBJECTS.values()))
_PLACEABLE = frozenset(["person", "animal", "thing", "device", "furniture", "vehicle", "plant"])
HUMAN = frozenset(["person"])


class NominalComposer(ABC):
    """Draws nominals from the lexicon."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng

    @abstractmethod
    def relative(self, antecedent: NounPhrase, budget: int) -> Clause | None:
        """Returns a relative clause about a noun phrase, in a number of words; None if none fits."""

    def subject(self, budget: int) -> Nominal:
        """Returns a subject: a pronoun, a name or a noun phrase."""
        if budget <= 2 and self._rng.happens(0.45):
            return self.pronoun()
        if budget <= 3 and self._rng.happens(0.25):
            return self.name()
        classes = HUMAN if self._rng.happens(0.6) else _SUBJECT_CLASSES.draw(self._rng)
        return self.nominal(classes, budget)

    def pronoun(self) -> Pronoun:
        person, plural = _PERSONS.draw(self._rng)
        return Pronoun(person, plural, "m" if self._rng.happens(0.5) else "f")

    def _speaker(self) -> Pronoun:
        """Returns an owner whom the sentence does not name; never *son*, which would be his or her."""
        person, plural = self._rng.pick([(1, False), (2, False), (1, True), (2, True), (3, True)])
        return Pronoun(person, plural, "m")

    def third_person(self, *, human: bool) -> Pronoun:
        return Pronoun(3, self._rng.happens(0.3), "m" if self._rng.happens(0.5) else "f", human)

    def name(self) -> Name:
        """Returns a person's name, one in three with a surname."""
        given = sample_proper_nouns("given").draw(self._rng)
        surname = sample_proper_nouns("surname").draw(self._rng) if self._rng.happens(0.35) else None
        return Name(given, surname)

    def nominal(self, classes: frozenset[str], budget: int, *, owner: Nominal | None = None, only: str = "") -> Nominal:
        """Returns a noun phrase, a name or a coordination, of about so many words.

        The noun is of one of the classes; a possessive may refer to the owner; ``only`` is the one French noun allowed.
        """
        if budget >= 6 and self._rng.happens(0.22):
            return self._coordination(classes, budget, owner)
        if classes == HUMAN and budget <= 3 and self._rng.happens(0.3):
            return self.name()
        noun = sample_nouns(classes, only).draw(self._rng)
        return self.phrase(noun, budget, owner=owner)

    def phrase(self, noun: Noun, budget: int, *, owner: Nominal | None = None) -> NounPhrase:
        phrase = self._determined(noun, owner)
        if phrase.determiner != "amount":
            self._modify(phrase, budget - 2)
        return phrase

    def location(self, budget: int, *, preposition_needed: bool = False) -> Location:
        """Returns a place: a town or a country, or a preposition and a noun phrase."""
        if not preposition_needed and self._rng.happens(0.25):
            return Location(None, self.place_name())
        preposition = sample_prepositions().draw(self._rng)
        noun = sample_nouns(preposition.classes).draw(self._rng)
        return Location(preposition, self.phrase(noun, max(2, budget - 1)))

    def place_name(self) -> PlaceName:
        """Returns a town or, one in four, a country."""
        kind = "country" if self._rng.happens(0.25) else "town"
        return PlaceName(sample_proper_nouns(kind).draw(self._rng))

    def modifier(self, noun_class: str, *, predicative: bool, degree: float) -> Modifier:
        """Returns an adjective for a class of nouns, with an adverb of degree by the given probability."""
        adjective = sample_adjectives(noun_class, predicative).draw(self._rng)
        if adjective.relational or not self._rng.happens(degree):
            return Modifier(adjective)
        degrees = sample_adverbs("degree", not predicative)
        very_only = adjective.before and not predicative
        return Modifier(adjective, degrees.items[0] if very_only else degrees.draw(self._rng))

    def _coordination(self, classes: frozenset[str], budget: int, owner: Nominal | None) -> Coordination:
        count = 3 if budget >= 9 and self._rng.happens(0.35) else 2
        share = (budget - count + 1) // count
        items: list[Nominal] = []
        nouns: set[str] = set()
        while len(items) < count:
            noun = sample_nouns(classes).draw(self._rng)
            if noun.zh not in nouns:
                nouns.add(noun.zh)
                items.append(self.phrase(noun, share, owner=owner))
        return Coordination(items)

    def _determined(self, noun: Noun, owner: Nominal | None) -> NounPhrase:
        rng = self._rng
        if noun.noun_class == "money":
            cents = 100 * rng.integer(2, 900) + (5 * rng.integer(0, 19) if rng.happens(0.4) else 0)
            return NounPhrase(noun, True, "amount", cents)
        determiner = _DETERMINERS.draw(rng)
        if noun.mass:
            determiner = _OF_MASS.get(determiner, determiner)
        if determiner == "possessive":
            owner = owner if owner is not None and _owns(owner) and rng.happens(0.7) else self._speaker()
        plural = not noun.mass and (determiner in _NUMBERED or (determiner != "each" and rng.happens(0.27)))
        number = rng.integer(2, 6) if rng.happens(0.7) else rng.integer(7, 20)
        return NounPhrase(noun, plural, determiner, number, owner if determiner == "possessive" else None)

    def _modify(self, phrase: NounPhrase, spare: int) -> None:
        """Adds dependents that take about the spare number of words."""
        rng, noun_class = self._rng, phrase.noun.noun_class
        if spare >= 4 and rng.happens(0.6):
            phrase.relative = self.relative(phrase, spare)
            if phrase.relative:
                return
        if spare >= 1 and rng.happens(0.55):
            phrase.adjectives.append(self.modifier(noun_class, predicative=False, degree=0.3 if spare > 1 else 0))
            spare -= 1 + bool(phrase.adjectives[0].degree)
        if spare >= 2 and phrase.determiner == "definite" and rng.happens(0.5):
            phrase.possessor = self._possessor(noun_class, spare - 1)
            return
        if spare >= 3 and noun_class in _PLACEABLE and rng.happens(0.4):
            phrase.location = self.location(spare - 1, preposition_needed=True)

    def _possessor(self, noun_class: str, budget: int) -> Nominal:
        if noun_class in ("building", "idea", "event", "place", "text") and self._rng.happens(0.3):
            return self.place_name()
        if budget <= 2 and self._rng.happens(0.4):
            return self.name()
        return self.phrase(sample_nouns(HUMAN).draw(self._rng), budget)


def _owns(nominal: Nominal) -> bool:
    return nominal.human and not isinstance(nominal, PlaceName)
