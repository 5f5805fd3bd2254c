"""Composes the meanings of random sentences of a wanted length, their clauses and their noun phrases."""

from __future__ import annotations

from collections.abc import Callable

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
    Action,
    Clause,
    Compound,
    Coordination,
    Existence,
    Location,
    Modifier,
    Name,
    Nominal,
    Noun,
    NounPhrase,
    PlaceName,
    Pronoun,
    Quality,
    Verb,
)
from .sampling import Rng, Weighted

_CONNECTIVES = Weighted(["and", "but", "so", "because", "when", "if", "while"], [24, 18, 9, 16, 13, 11, 9])
_ANY_TENSE = ("and", "but", "so", "because")
_SHORTEST_COMPOUND = 9
_TENSE = Weighted(["present", "past", "future", "progressive", "past_progressive"], [38, 32, 14, 8, 8])
_GAP = Weighted(["subject", "object", "oblique"], [45, 43, 12])
_FRAMES = {  # by the words left for the predicate
    1: Weighted([("intransitive",), ("transitive",)], [6, 4]),
    3: Weighted([("transitive",), ("intransitive",), ("oblique",), ("dative",)], [68, 12, 14, 6]),
    5: Weighted([("transitive",), ("oblique",), ("ditransitive",), ("dative",), ("intransitive",)], [60, 15, 13, 5, 7]),
    8: Weighted([("transitive",), ("oblique",), ("ditransitive",), ("clausal",), ("dative",)], [46, 11, 13, 26, 4]),
}
_LIVING = ("person", "animal")
_DETERMINERS = Weighted(
    ["definite", "indefinite", "demonstrative", "possessive", "each", "several", "few", "many", "numeral"],
    [48, 20, 7, 8, 2, 3, 3, 3, 6],
)
_PERSONS = Weighted([(1, False), (2, False), (3, False), (1, True), (2, True), (3, True)], [18, 8, 40, 11, 6, 17])
_NUMBERED = ("several", "few", "many", "numeral")
_OF_MASS = {"each": "definite", **dict.fromkeys(("indefinite", "several", "few", "numeral"), "partitive")}
_SUBJECTS = "animal vehicle device building thing text show idea event food drink place clothing furniture plant"
_SUBJECT_CLASSES = Weighted(_SUBJECTS.split(), [30, 10, 6, 6, 7, 7, 5, 8, 5, 5, 2, 5, 5, 4, 5])
_PLACEABLE = frozenset(["person", "animal", "thing", "device", "furniture", "vehicle", "plant"])
_HUMAN = frozenset(["person"])


class Composer:
    """Draws meanings from the lexicon; each of about so many words, its budget."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng

    def sentence(self, budget: int) -> Clause | Compound:
        """Returns a statement or a question of about so many words."""
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
        if connective in _ANY_TENSE:
            tenses = (tense, tense if connective in ("and", "but") else "")
        elif connective == "if":
            tenses = self._rng.pick([("future", "present"), ("present", "present")])
        elif connective == "when":
            tenses = self._rng.pick([("past", "past"), ("present", "present"), ("future", "future")])
        else:
            tenses = self._rng.pick([("past", "past_progressive"), ("present", "progressive")])
        share = int(budget * (0.35 + 0.3 * self._rng.random()))
        first = self._body(max(3, budget - share - 1), tenses[0], _ANY_TENSE)
        return self._join(connective, first, max(3, share), tenses[1])

    def _join(self, connective: str, first: Clause | Compound, budget: int, tense: str) -> Compound:
        """Adds a second clause, half of the time about the subject of the first, told by a pronoun."""
        known = first.subject if isinstance(first, Clause) else None
        subordinate = connective not in ("and", "but", "so")
        fronted = False
        second: Clause | Compound
        if isinstance(known, (NounPhrase, Name, Coordination)) and self._rng.happens(0.5):
            pronoun = Pronoun(3, known.plural, known.gender, known.human)
            second = self.clause(budget, tense=tense, subject=pronoun, subject_class=noun_class(known))
        else:
            second = self._body(budget, tense, ("and", "but") if subordinate else _ANY_TENSE)
            fronted = connective in ("when", "if", "while") and self._rng.happens(0.5)
        if subordinate:
            next(second.clauses()).time_first = False
        if connective == "when":
            for clause in second.clauses():
                clause.after_when = True
        return Compound(connective, first, second, fronted)

    def clause(
        self, budget: int, *, tense: str = "", subject: Nominal | None = None, subject_class: str = ""
    ) -> Clause:
        """Returns a clause of about so many words; what is not given is drawn.

        ``subject_class`` is the class of nouns that a given subject, a pronoun, refers to.
        """
        rng = self._rng
        tense = tense or _TENSE.draw(rng)
        if subject is None and budget >= 6 and rng.happens(0.05):
            return self._existence(budget, tense)
        if subject is None:
            share = 2 if budget <= 5 else 2 + int((budget - 5) * 0.6 * rng.random())
            subject = self.subject(share)
        else:
            share = 1
        clause = Clause(subject, None, tense)  # type: ignore[arg-type]  # the predicate comes next
        return self._predicate(clause, subject_class or noun_class(subject), budget - share)

    def relative(self, antecedent: NounPhrase, budget: int) -> Clause | None:
        """Returns a relative clause about a noun phrase, or None if no verb of the lexicon fits."""
        tense, gap = _TENSE.draw(self._rng), _GAP.draw(self._rng)
        kind = antecedent.noun.noun_class
        if gap == "subject":
            clause = Clause(None, None, tense, gap=gap, antecedent=antecedent)  # type: ignore[arg-type]
            return self._predicate(clause, kind, budget - 1)
        frame = "transitive" if gap == "object" else "oblique"
        verb = self._draw_verb(frame, kind, 8, lambda verb: gap == "object" or verb.fr_preposition == "de")
        if verb is None:
            return None
        if budget <= 4 and "person" in verb.subjects and self._rng.happens(0.5):
            subject: Nominal = self.pronoun()
        else:
            subject = self.nominal(_HUMAN & verb.subjects or verb.subjects, max(2, budget - 3))
        clause = Clause(subject, Action(verb), tense, gap=gap, antecedent=antecedent)
        self._adjust_tense(clause)
        self._negate(clause)
        return clause

    def _draw_verb(self, frame: str, object_class: str, tries: int, fits: Callable[[Verb], bool]) -> Verb | None:
        """Returns a verb that fits and whose object can be of this class; None if so many draws find none."""
        sampler = sample_verbs((frame,), None, object_class)
        drawn = (sampler.draw(self._rng) for _ in range(tries)) if sampler else iter(())
        return next(filter(fits, drawn), None)

    def _predicate(self, clause: Clause, kind: str, budget: int) -> Clause:
        """Fills in the predicate of a clause whose subject is of a class of nouns."""
        rng = self._rng
        roll = rng.random()
        action: Action | None = None
        if roll < 0.08 and budget >= 2 and clause.tense in ("present", "past", "future"):
            action = self._passive(kind, budget)
        elif roll < 0.78:
            frames = _FRAMES[max(size for size in _FRAMES if size <= max(budget, 1))].draw(rng)
            sampler = sample_verbs(frames, kind, None)
            action = self._action(clause, sampler.draw(rng), budget) if sampler else None
        if action is None:
            self._qualify(clause, kind, budget)
        else:
            clause.predicate = action
        self._adjust_tense(clause)
        self._add_adjuncts(clause, kind, budget)
        return clause

    def _passive(self, kind: str, budget: int) -> Action | None:
        verb = self._draw_verb("transitive", kind, 4, lambda verb: verb.passive and not verb.en_particle)
        if verb is None:
            return None
        told = budget >= 3 and self._rng.happens(0.8)
        agent = self.nominal(_HUMAN & verb.subjects or verb.subjects, budget - 2) if told else None
        return Action(verb, passive=True, agent=agent)

    def _qualify(self, clause: Clause, kind: str, budget: int) -> None:
        modifier = self.modifier(kind, predicative=True, degree=0.35 if budget > 2 else 0)
        clause.predicate = Quality(modifier)
        if budget >= 4 and not modifier.degree and self._rng.happens(0.4) and not modifier.adjective.predicative:
            clause.predicate.standard = self.nominal(frozenset([kind]), budget - 3)

    def _action(self, clause: Clause, verb: Verb, budget: int) -> Action:
        action, spare = Action(verb), budget - 1
        subject = clause.agreeing
        if verb.frame == "clausal":
            self._complete(clause, action, spare)
        elif verb.frame == "ditransitive":
            action.object = self.nominal(verb.objects, max(2, spare - 3))
            action.recipient = self._object(_HUMAN, subject, min(3, spare // 2), pronoun=0.5)
        elif verb.frame == "oblique":
            action.object = self._complement(verb, subject, spare - 1)
        elif verb.frame in ("transitive", "dative"):
            share = spare if spare <= 4 or self._rng.happens(0.6) else spare - 2
            pronoun = 0.8 if spare <= 1 else 0.17
            if verb.only or ("money" in verb.objects and len(verb.objects) == 1):
                pronoun = 0.0
            classes = _HUMAN if verb.frame == "dative" else verb.objects
            action.object = self._object(classes, subject, share, pronoun=pronoun, only=verb.only)
        return action

    def _complete(self, clause: Clause, action: Action, budget: int) -> None:
        """Adds the clause that is said or thought; after a past it is told in the past as well."""
        past = clause.tense == "past" and not action.verb.stative
        clause.tense = "past" if past else "present"
        tense = "past_progressive" if past else self._rng.pick(["present", "past", "future", "progressive"])
        action.complement = self.clause(max(3, budget - 1), tense=tense)
        action.complement.time_first = False

    def _complement(self, verb: Verb, subject: Nominal, budget: int) -> Nominal:
        if verb.fr_preposition == "à" and "place" in verb.objects and self._rng.happens(0.4):
            return self.place_name()
        of_persons = verb.fr_preposition in ("avec", "contre", "pour", "sur") and verb.objects >= _HUMAN
        if of_persons and self._rng.happens(0.15):
            return self._pronoun_object(subject, human=True)
        return self.nominal(verb.objects, max(2, budget), owner=subject)

    def _object(
        self, classes: frozenset[str], subject: Nominal, budget: int, *, pronoun: float, only: str = ""
    ) -> Nominal:
        if self._rng.happens(pronoun):
            return self._pronoun_object(subject, human="person" in classes)
        return self.nominal(classes, max(2, budget), owner=subject, only=only)

    def _pronoun_object(self, subject: Nominal, *, human: bool) -> Pronoun:
        """Returns a pronoun that does not refer to the subject; one that may mean a person always does."""
        if human and self._rng.happens(0.35):
            pronoun = self.pronoun()
            if pronoun.person != subject.person and pronoun.person < 3:
                return pronoun
        return self.third_person(human=human)

    def _existence(self, budget: int, tense: str) -> Clause:
        tense = tense if tense in ("present", "past", "future") else "present"
        location = self.location(max(3, budget // 2), preposition_needed=True)
        classes = frozenset(["person", "animal", "furniture", "plant", "thing"])
        while True:
            theme = self.nominal(classes, max(2, budget - budget // 2 - 3))
            if isinstance(theme, NounPhrase) and theme.determiner in ("indefinite", *_NUMBERED):
                clause = Clause(None, Existence(theme, location), tense)
                clause.negated = theme.determiner == "indefinite" and self._rng.happens(0.12)
                return clause

    def _adjust_tense(self, clause: Clause) -> None:
        """Turns the progressive of a state, or of what happens in a moment, into the simple tense."""
        if clause.stative or (clause.action and not clause.action.verb.progressive):
            clause.tense = {"progressive": "present", "past_progressive": "past"}.get(clause.tense, clause.tense)

    def _negate(self, clause: Clause) -> None:
        """Negates one clause in seven, where the predicate allows it."""
        action = clause.action
        if action and (action.complement or (clause.modal and clause.modal.en == "must")):
            return
        clause.negated = self._rng.happens(0.14)
        if clause.negated and isinstance(clause.predicate, Quality):
            clause.predicate.modifier.degree = None

    def _add_adjuncts(self, clause: Clause, kind: str, budget: int) -> None:
        """Adds adjuncts to a clause whose subject is of a class of nouns, within the words left for its predicate."""
        action = clause.action
        active = action is not None and not action.passive and action.complement is None
        if active and kind in _LIVING and not clause.tense.endswith("progressive") and self._rng.happens(0.12):
            modals = sample_verbs(("modal",), kind, None)
            clause.modal = modals.draw(self._rng) if modals else None
        self._negate(clause)
        self._add_frequency(clause)
        if active and kind in _LIVING and not clause.stative:
            self._add_circumstances(clause, kind, budget)
        if budget >= 3 and self._rng.happens(0.22):
            self._add_time(clause)

    def _add_frequency(self, clause: Clause) -> None:
        denied_event = clause.negated and clause.tense == "past" and not clause.stative
        compared = isinstance(clause.predicate, Quality) and clause.predicate.standard
        clausal = clause.action and clause.action.complement
        excluded = denied_event or compared or clausal or clause.modal or clause.tense.endswith("progressive")
        if not excluded and self._rng.happens(0.1):
            clause.frequency = sample_adverbs("frequency", clause.negated).draw(self._rng)

    def _add_circumstances(self, clause: Clause, kind: str, budget: int) -> None:
        rng, verb = self._rng, clause.predicate.verb  # type: ignore[union-attr]  # called for actions
        if not clause.negated and rng.happens(0.16):
            clause.manner = sample_adverbs("manner", False).draw(rng)
        if verb.frame in ("oblique", "dative") or verb.etre or budget < 4 or clause.gap:
            return
        intransitive = verb.frame == "intransitive"
        if rng.happens(0.6 if intransitive else 0.16):
            clause.location = self.location(max(3, budget - 2) if intransitive else 3)
        elif kind == "person" and rng.happens(0.12):
            clause.companion = self.nominal(_HUMAN, 2)

    def _add_time(self, clause: Clause) -> None:
        rng = self._rng
        if clause.frequency or (clause.tense == "past" and clause.stative and clause.negated):
            return
        if clause.tense in ("past", "future") and rng.happens(0.22):
            clause.time = rng.integer(1850, 2020) if clause.tense == "past" else rng.integer(2035, 2090)
        else:
            sampler = sample_times(clause.tense)
            clause.time = sampler.draw(rng) if sampler else None
        clause.time_first = not clause.gap and clause.time is not None and rng.happens(0.4)

    def subject(self, budget: int) -> Nominal:
        """Returns a subject: a pronoun, a name or a noun phrase."""
        if budget <= 2 and self._rng.happens(0.45):
            return self.pronoun()
        if budget <= 3 and self._rng.happens(0.25):
            return self.name()
        classes = _HUMAN if self._rng.happens(0.6) else frozenset([_SUBJECT_CLASSES.draw(self._rng)])
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
        if classes == _HUMAN and budget <= 3 and self._rng.happens(0.3):
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
            phrase.adjective = self.modifier(noun_class, predicative=False, degree=0.3 if spare > 1 else 0)
            spare -= 2 if phrase.adjective.degree else 1
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
        return self.phrase(sample_nouns(_HUMAN).draw(self._rng), budget)


def noun_class(nominal: Nominal) -> str:
    """Returns the class of nouns by which a subject chooses its verb; of mixed company, that of the last."""
    if isinstance(nominal, NounPhrase):
        return nominal.noun.noun_class
    if isinstance(nominal, Coordination):
        return noun_class(nominal.items[-1])
    if isinstance(nominal, PlaceName):
        return "place"
    return "person" if isinstance(nominal, (Name, Pronoun)) and nominal.human else "thing"


def _owns(nominal: Nominal) -> bool:
    return nominal.human and not isinstance(nominal, PlaceName)
