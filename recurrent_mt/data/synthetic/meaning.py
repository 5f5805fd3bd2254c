"""The words of the corpus, and what a sentence pair says: the derivation that each language realizes in its own way.

Nodes are compared by identity: they are the anchors by which the words of two languages are aligned.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    two) is the verb proper, the word that 了 follows. ``only`` is the one French noun that can be its object.
    """

    frame: str
    fr: str
    fr_preposition: str
    etre: bool
    en: str
    en_third: str
    en_past: str
    en_participle: str
    en_gerund: str
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


@dataclass(frozen=True)
class Conjugation:
    """The forms of one French verb: six of each tense, and the past participle, masculine singular."""

    infinitive: str
    present: tuple[str, ...]
    imperfect: tuple[str, ...]
    future: tuple[str, ...]
    participle: str

    def form(self, tense: str, person: int, plural: bool) -> str:
        """Returns the finite form of a person (1 to 3) in the ``present``, ``imperfect`` or ``future``."""
        return getattr(self, tense)[person - 1 + 3 * plural]


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective, ``before`` its French noun or not; a relational one has no degree and is no predicate.

    The comparative is French *meilleur* or nothing, and English *bigger* or *more difficult*; ``liaison`` is *bel*.
    """

    fr: str
    plural: str
    feminine: str
    en: str
    zh: str
    classes: frozenset[str]
    liaison: str = ""
    comparative: str = ""
    en_comparative: tuple[str, ...] = ()
    before: bool = False
    relational: bool = False
    predicative: bool = False


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
    """A time expression: words as ``token/part of speech/key…``; a key shared by two languages aligns."""

    fr: tuple[str, ...]
    en: tuple[str, ...]
    zh: tuple[str, ...]
    tenses: frozenset[str]


@dataclass(eq=False)
class Pronoun:
    """A personal pronoun; unless ``human``, it is *it* in English, *il* or *elle* in French."""

    person: int
    plural: bool
    gender: str
    human: bool = True


@dataclass(eq=False)
class Name:
    """A person, by a given name and perhaps a surname."""

    given: ProperNoun
    surname: ProperNoun | None
    person = 3
    plural = False
    human = True

    @property
    def gender(self) -> str:
        return self.given.gender


@dataclass(eq=False)
class PlaceName:
    """The name of a town or a country."""

    name: ProperNoun
    person = 3
    plural = False
    human = False

    @property
    def gender(self) -> str:
        """The gender in French."""
        return self.name.gender


@dataclass(eq=False)
class Modifier:
    """An adjective with an optional adverb of degree."""

    adjective: Adjective
    degree: Adverb | None = None


@dataclass(eq=False)
class Location:
    """A place: a preposition and a noun phrase; without preposition, a town or country."""

    preposition: Preposition | None
    place: NounPhrase | PlaceName


@dataclass(eq=False)
class NounPhrase:
    """A noun with its dependents.

    ``determiner`` is definite, indefinite, partitive, demonstrative, possessive, each, several, few, many, numeral or
    amount; ``number`` is the numeral or the amount in cents; ``owner`` the person that a possessive refers to.
    """

    noun: Noun
    plural: bool
    determiner: str
    number: int = 0
    owner: Nominal | None = None
    adjective: Modifier | None = None
    possessor: Nominal | None = None
    location: Location | None = None
    relative: Clause | None = None
    person = 3

    @property
    def gender(self) -> str:
        return self.noun.gender

    @property
    def human(self) -> bool:
        return self.noun.noun_class == "person"


@dataclass(eq=False)
class Coordination:
    """Two or more noun phrases joined by ``and``."""

    items: list[Nominal]
    person = 3
    plural = True

    @property
    def gender(self) -> str:
        """Feminine if all items are."""
        return "f" if all(item.gender == "f" for item in self.items) else "m"

    @property
    def human(self) -> bool:
        """Whether any item names a person."""
        return any(item.human for item in self.items)


Nominal = Pronoun | Name | PlaceName | NounPhrase | Coordination


@dataclass(eq=False)
class Action:
    """A verb with what it governs. A passive's subject is the patient; its agent may be left out."""

    verb: Verb
    object: Nominal | None = None
    recipient: Nominal | None = None
    complement: Clause | None = None
    passive: bool = False
    agent: Nominal | None = None


@dataclass(eq=False)
class Quality:
    """*To be* and an adjective; with a standard, a comparison."""

    modifier: Modifier
    standard: Nominal | None = None


@dataclass(eq=False)
class Existence:
    """*There is* something somewhere."""

    theme: NounPhrase
    location: Location


@dataclass(eq=False)
class Clause:
    """A subject and a predicate; the tense is present, progressive, past, past_progressive or future.

    ``gap`` names the part that a relative clause leaves out (subject, object or oblique), which is then the
    ``antecedent``. ``asked``: a yes/no question. ``after_when``: English tells its future in the present.
    """

    subject: Nominal | None
    predicate: Action | Quality | Existence
    tense: str
    negated: bool = False
    modal: Verb | None = None
    frequency: Adverb | None = None
    manner: Adverb | None = None
    location: Location | None = None
    companion: Nominal | None = None
    time: TimeExpression | int | None = None
    time_first: bool = False
    gap: str = ""
    antecedent: Nominal | None = None
    asked: bool = False
    after_when: bool = False

    def clauses(self) -> Iterator[Clause]:
        yield self

    @property
    def action(self) -> Action | None:
        """The predicate, if it is an action."""
        return self.predicate if isinstance(self.predicate, Action) else None

    @property
    def stative(self) -> bool:
        """Whether the clause tells a state: its past is the French imparfait."""
        return self.modal is not None or self.action is None or self.action.verb.stative

    @property
    def agreeing(self) -> Nominal:
        """The nominal that the verb agrees with."""
        subject = self.antecedent if self.gap == "subject" else self.subject
        assert subject is not None, "a clause of existence agrees with its theme"
        return subject


@dataclass(eq=False)
class Compound:
    """Two clauses joined by and, but, so, because, when, if or while; ``fronted``: the second comes first."""

    connective: str
    first: Clause | Compound
    second: Clause | Compound
    fronted: bool = False
    asked = False

    def clauses(self) -> Iterator[Clause]:
        yield from self.first.clauses()
        yield from self.second.clauses()
