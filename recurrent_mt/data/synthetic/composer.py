"""Composes the meanings of random sentences of a wanted length, their clauses and their noun phrases."""

from __future__ import annotations

from .lexicon import (
    sample_adjectives,
    sample_adverbs,
    sample_nouns,
    sample_prepositions,
    sample_proper_nouns,
    sample_times,
    sample_verbs,
)
from .meaning import (
    Adjective,
    Clause,
    Compound,
    Coordination,
    Location,
    Name,
    Nominal,
    Noun,
    NounPhrase,
    Pronoun,
    Verb,
)
from .sampling import Rng, Weighted

_CONNECTIVES = Weighted(["and", "but", "so", "because", "when", "if"], [24, 18, 9, 16, 18, 15])
_ANY_TENSE = ("and", "but", "so", "because")
_TENSES = {  # of the main and of the subordinate clause
    "when": [("past", "past"), ("present", "present")],
    "if": [("future", "present"), ("present", "present")],
}
_SHORTEST_COMPOUND = 9
_TENSE = Weighted(["present", "past", "future"], [46, 38, 16])
_FRAMES = {  # by the words left for the predicate
    1: Weighted(["intransitive", "transitive"], [6, 4]),
    3: Weighted(["transitive", "intransitive", "oblique"], [70, 13, 17]),
    5: Weighted(["transitive", "oblique", "ditransitive", "intransitive"], [61, 18, 14, 7]),
    8: Weighted(["transitive", "oblique", "ditransitive", "clausal"], [47, 13, 14, 26]),
}
_LIVING = ("person", "animal")
_DETERMINERS = Weighted(
    ["definite", "indefinite", "demonstrative", "possessive", "several", "many", "numeral"],
    [48, 22, 8, 9, 3, 4, 6],
)
_PERSONS = Weighted([(1, False), (2, False), (3, False), (1, True), (2, True), (3, True)], [18, 8, 40, 11, 6, 17])
_NUMBERED = ("several", "many", "numeral")
_SUBJECTS = "animal vehicle device building thing text idea food place clothing furniture plant"
_SUBJECT_CLASSES = Weighted(_SUBJECTS.split(), [30, 10, 6, 6, 7, 7, 8, 5, 5, 5, 4, 5])
_PLACEABLE = frozenset(["person", "animal", "thing", "device", "furniture", "vehicle", "plant"])
_HUMAN = frozenset(["person"])


class Composer:
    """Draws meanings from the lexicon; each of about so many words, its budget."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng

    def sentence(self, budget: int) -> Clause | Compound:
        if budget <= 14 and self._rng.happens(0.07):
            clause = self.clause(max(2, budget - 3))
            clause.time_first, clause.asked = False, True
            return clause
        return self._body(budget - 1)

    def _body(self, budget: int, tense: str = "", connectives: tuple[str, ...] = ()) -> Clause | Compound:
        """Returns a clause or several joined; the main clause is in the tense, if one is given."""
        surplus = budget - _SHORTEST_COMPOUND
        if surplus < 0 or not self._rng.happens(min(0.97, 0.22 + surplus * 0.05)):
            return self.clause(budget, tense=tense)
        connective = self._rng.pick(connectives) if connectives else _CONNECTIVES.draw(self._rng)
        tenses = self._rng.pick(_TENSES[connective]) if connective in _TENSES else (tense, tense)
        share = int(budget * (0.35 + 0.3 * self._rng.random()))
        first = self._body(max(3, budget - share - 1), tenses[0], _ANY_TENSE)
        return self._join(connective, first, max(3, share), tenses[1])

    def _join(self, connective: str, first: Clause | Compound, budget: int, tense: str) -> Compound:
        """Adds a second clause, half of the time about the subject of the first, told by a pronoun."""
        known = first.subject if isinstance(first, Clause) else None
        if isinstance(known, (NounPhrase, Name, Coordination)) and self._rng.happens(0.5):
            pronoun = Pronoun(3, known.plural, known.gender, known.human)
            second = self.clause(budget, tense=tense, subject=pronoun, subject_class=noun_class(known))
            fronted = False
        elif connective not in _TENSES:
            connectives = ("and", "but") if connective == "because" else _ANY_TENSE
            return Compound(connective, first, self._body(budget, tense, connectives))
        else:
            second, fronted = self.clause(budget, tense=tense), self._rng.happens(0.5)
        if connective in _TENSES:
            second.time_first = False
        return Compound(connective, first, second, fronted)

    def clause(
        self, budget: int, *, tense: str = "", subject: Nominal | None = None, subject_class: str = ""
    ) -> Clause:
        """Returns a clause of about so many words; what is not given is drawn.

        ``subject_class`` is the class of nouns that a given subject, a pronoun, refers to.
        """
        tense = tense or _TENSE.draw(self._rng)
        share = 1
        if subject is None:
            share = 2 if budget <= 5 else 2 + int((budget - 5) * 0.6 * self._rng.random())
            subject = self.subject(share)
        kind = subject_class or noun_class(subject)
        return self._complete(
            Clause(subject, self._predicate(kind, tense, budget - share), tense), kind, budget - share
        )

    def relative(self, antecedent: NounPhrase, budget: int) -> Clause:
        tense, kind = _TENSE.draw(self._rng), antecedent.noun.noun_class
        if self._rng.happens(0.5):
            predicate = self._predicate(kind, tense, budget - 1)
            clause = Clause(None, predicate, tense, gap="subject", antecedent=antecedent)
            return self._complete(clause, kind, budget - 1)
        verb = sample_verbs("transitive", None, kind).draw(self._rng)
        if budget <= 4 and "person" in verb.subjects and self._rng.happens(0.5):
            subject: Nominal = self.pronoun()
        else:
            subject = self.nominal(_HUMAN & verb.subjects or verb.subjects, max(2, budget - 3))
        negated = self._rng.happens(0.14)
        return Clause(subject, verb, tense, gap="object", antecedent=antecedent, negated=negated)

    def _predicate(self, kind: str, tense: str, budget: int) -> Verb | Adjective:
        """Returns a predicate for a subject of a class of nouns."""
        if self._rng.happens(0.78):
            frame = _FRAMES[max(size for size in _FRAMES if size <= max(budget, 1))].draw(self._rng)
            # what was said is told in a tense that *he says* does not change
            frame = "transitive" if frame == "clausal" and tense == "past" else frame
            verbs = sample_verbs(frame, kind, None)
            if verbs.items:
                return verbs.draw(self._rng)
        return sample_adjectives(kind, predicative=True).draw(self._rng)

    def _complete(self, clause: Clause, kind: str, budget: int) -> Clause:
        """Adds objects and adjuncts of about so many words to a clause whose subject is of a class of nouns."""
        rng, verb = self._rng, clause.predicate
        clause.negated = rng.happens(0.14)
        if isinstance(verb, Adjective):
            if budget > 2 and not clause.negated and rng.happens(0.35):
                clause.degree = sample_adverbs("degree").draw(rng)
        else:
            self._add_objects(clause, verb, budget - 1)
            if kind in _LIVING and verb.frame != "clausal":
                self._add_adjuncts(clause, verb, kind, budget)
        if budget >= 3 and rng.happens(0.22) and not (clause.tense == "past" and clause.stative and clause.negated):
            clause.time = sample_times(clause.tense).draw(rng)
            clause.time_first = not clause.gap and rng.happens(0.4)
        return clause

    def _add_objects(self, clause: Clause, verb: Verb, budget: int) -> None:
        rng, subject = self._rng, clause.agreeing
        if verb.frame == "clausal":
            clause.negated = False
            clause.complement = self.clause(max(3, budget - 1))
            clause.complement.time_first = False
        elif verb.frame == "ditransitive":
            clause.object = self.nominal(verb.objects, max(2, budget - 3))
            clause.recipient = self.nominal(_HUMAN, max(2, min(3, budget // 2)), owner=subject)
        elif verb.frame == "oblique":
            to_town = "place" in verb.objects and rng.happens(0.4)
            clause.object = self._town() if to_town else self.nominal(verb.objects, max(2, budget - 1), owner=subject)
        elif verb.frame == "transitive" and rng.happens(0.8 if budget <= 1 else 0.17):
            clause.object = self._object_pronoun(subject, human="person" in verb.objects)
        elif verb.frame == "transitive":
            clause.object = self.nominal(verb.objects, max(2, budget), owner=subject)

    def _add_adjuncts(self, clause: Clause, verb: Verb, kind: str, budget: int) -> None:
        """Adds a modal verb, or the manner and the place of what happens."""
        rng, intransitive = self._rng, verb.frame == "intransitive"
        if rng.happens(0.12):
            clause.modal = sample_verbs("modal", kind, None).draw(rng)
        if clause.stative:
            return
        if not clause.negated and rng.happens(0.16):
            clause.manner = sample_adverbs("manner").draw(rng)
        goes = verb.frame == "oblique" or verb.etre
        if budget >= 4 and not goes and not clause.gap and rng.happens(0.6 if intransitive else 0.2):
            clause.location = self.location(max(3, budget - 2) if intransitive else 3)

    def subject(self, budget: int) -> Nominal:
        if budget <= 2 and self._rng.happens(0.45):
            return self.pronoun()
        if budget <= 3 and self._rng.happens(0.25):
            return self.name()
        classes = _HUMAN if self._rng.happens(0.6) else frozenset([_SUBJECT_CLASSES.draw(self._rng)])
        return self.nominal(classes, budget)

    def pronoun(self) -> Pronoun:
        person, plural = _PERSONS.draw(self._rng)
        return Pronoun(person, plural, self._rng.pick("mf"))

    def _object_pronoun(self, subject: Nominal, *, human: bool) -> Pronoun:
        """Returns a pronoun that does not refer to the subject; one that may mean a person always does."""
        pronoun = self.pronoun()
        if human and pronoun.person != subject.person:
            return pronoun
        return Pronoun(3, pronoun.plural, pronoun.gender, human)

    def name(self) -> Name:
        """Returns a person's name, one in three with a surname."""
        given = sample_proper_nouns("given").draw(self._rng)
        surname = sample_proper_nouns("surname").draw(self._rng) if self._rng.happens(0.35) else None
        return Name(given, surname)

    def _town(self) -> Name:
        return Name(sample_proper_nouns("town").draw(self._rng))

    def nominal(self, classes: frozenset[str], budget: int, *, owner: Nominal | None = None) -> Nominal:
        """Returns a noun phrase, a name or a coordination, of about so many words.

        The noun is of one of the classes; a possessive may refer to the owner.
        """
        if budget >= 6 and self._rng.happens(0.22):
            return self._coordination(classes, budget, owner)
        if classes == _HUMAN and budget <= 3 and self._rng.happens(0.3):
            return self.name()
        return self.phrase(sample_nouns(classes).draw(self._rng), budget, owner=owner)

    def _coordination(self, classes: frozenset[str], budget: int, owner: Nominal | None) -> Coordination:
        count = 3 if budget >= 9 and self._rng.happens(0.35) else 2
        share = (budget - count + 1) // count
        nouns: dict[str, Noun] = {}
        while len(nouns) < count:
            noun = sample_nouns(classes).draw(self._rng)
            nouns[noun.zh] = noun
        return Coordination([self.phrase(noun, share, owner=owner) for noun in nouns.values()])

    def phrase(self, noun: Noun, budget: int, *, owner: Nominal | None = None) -> NounPhrase:
        rng = self._rng
        determiner = _DETERMINERS.draw(rng)
        if owner is None or not owner.human or rng.happens(0.3):
            # whom the sentence does not name; never *son*, which would be his or her
            person, plural = rng.pick([(1, False), (2, False), (1, True), (2, True), (3, True)])
            owner = Pronoun(person, plural, "m")
        numbered = determiner in _NUMBERED or rng.happens(0.27)
        phrase = NounPhrase(noun, numbered, determiner, rng.pick(range(2, 8)), owner)
        self._modify(phrase, budget - 2)
        return phrase

    def _modify(self, phrase: NounPhrase, spare: int) -> None:
        """Adds dependents that take about the spare number of words."""
        rng, kind = self._rng, phrase.noun.noun_class
        if spare >= 4 and rng.happens(0.6):
            phrase.relative = self.relative(phrase, spare)
            return
        if spare >= 1 and rng.happens(0.55):
            phrase.adjective = sample_adjectives(kind, predicative=False).draw(rng)
            spare -= 1
        if spare >= 2 and phrase.determiner == "definite" and rng.happens(0.5):
            phrase.possessor = self._possessor(kind, spare - 1)
        elif spare >= 3 and kind in _PLACEABLE and rng.happens(0.4):
            phrase.location = self._located(spare - 1)

    def _possessor(self, kind: str, budget: int) -> Nominal:
        if kind in ("building", "place") and self._rng.happens(0.3):
            return self._town()
        if budget <= 2 and self._rng.happens(0.4):
            return self.name()
        return self.phrase(sample_nouns(_HUMAN).draw(self._rng), budget)

    def location(self, budget: int) -> Location:
        """Returns a place, one in four a town."""
        return Location(None, self._town()) if self._rng.happens(0.25) else self._located(budget)

    def _located(self, budget: int) -> Location:
        preposition = sample_prepositions().draw(self._rng)
        noun = sample_nouns(preposition.classes).draw(self._rng)
        return Location(preposition, self.phrase(noun, max(2, budget - 1)))


def noun_class(nominal: Nominal) -> str:
    """Returns the class of nouns by which a subject chooses its verb; of mixed company, that of the last."""
    if isinstance(nominal, NounPhrase):
        return nominal.noun.noun_class
    return noun_class(nominal.items[-1]) if isinstance(nominal, Coordination) else "person"
