"""The words of the corpus, and what a sentence pair says: the derivation that each language realizes in its own way.

Nodes are compared by identity: they are the anchors by which the words of two languages are aligned.
"""

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


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb and what it asks for.

    ``frame`` is transitive, oblique (object after a preposition), ditransitive, intransitive, clausal or modal.
    ``subjects`` and ``objects`` are noun classes. ``etre``: its French past is made with *être*.
    """

    frame: str
    fr: str
    fr_preposition: str
    etre: bool
    en: str
    en_third: str
    en_past: str
    en_preposition: str
    zh: str
    zh_preposition: str
    subjects: frozenset[str]
    objects: frozenset[str]
    stative: bool


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
    """An adjective, ``before`` its French noun or not; a relational one has no degree and is no predicate."""

    fr: str
    plural: str
    feminine: str
    en: str
    zh: str
    classes: frozenset[str]
    before: bool = False
    relational: bool = False


@dataclass(frozen=True, eq=False)
class Adverb:
    """An adverb of degree or manner."""

    kind: str
    fr: str
    en: str
    zh: str


@dataclass(frozen=True, eq=False)
class Preposition:
    """A preposition of place, which Chinese expresses with 在 and a postposition."""

    fr: str
    en: str
    zh: str
    classes: frozenset[str]


@dataclass(frozen=True, eq=False)
class ProperNoun:
    """A given name, a surname or a town (kind), with its form in each language."""

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
    """A person, by a given name and perhaps a surname, or a town."""

    name: ProperNoun
    surname: ProperNoun | None = None
    person = 3
    plural = False

    @property
    def gender(self) -> str:
        return self.name.gender

    @property
    def human(self) -> bool:
        return self.name.kind == "given"


@dataclass(eq=False)
class Location:
    """A place: a preposition and a noun phrase; without preposition, a town."""

    preposition: Preposition | None
    place: NounPhrase | Name


@dataclass(eq=False)
class NounPhrase:
    """A noun with its dependents.

    ``determiner`` is definite, indefinite, demonstrative, possessive, several, many or numeral; ``number`` is the
    numeral; ``owner`` whom a possessive refers to.
    """

    noun: Noun
    plural: bool
    determiner: str
    number: int
    owner: Nominal
    adjective: Adjective | None = None
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

    items: list[NounPhrase]
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


Nominal = Pronoun | Name | NounPhrase | Coordination


@dataclass(eq=False)
class Clause:
    """A subject and a predicate, an adjective of which is said with *to be*; the tense is present, past or future.

    ``gap`` names the part that a relative clause leaves out (subject or object), which is then the ``antecedent``.
    ``asked``: a yes/no question.
    """

    subject: Nominal | None
    predicate: Verb | Adjective
    tense: str
    gap: str = ""
    antecedent: Nominal | None = None
    negated: bool = False
    modal: Verb | None = None
    degree: Adverb | None = None
    object: Nominal | None = None
    recipient: Nominal | None = None
    complement: Clause | None = None
    manner: Adverb | None = None
    location: Location | None = None
    time: TimeExpression | None = None
    time_first: bool = False
    asked: bool = False

    @property
    def stative(self) -> bool:
        """Whether the clause tells a state: its past is the French imparfait."""
        return self.modal is not None or isinstance(self.predicate, Adjective) or self.predicate.stative

    @property
    def agreeing(self) -> Nominal:
        """The nominal that the verb agrees with."""
        subject = self.antecedent if self.gap == "subject" else self.subject
        assert subject is not None
        return subject


@dataclass(eq=False)
class Compound:
    """Two clauses joined by and, but, so, because, when or if; ``fronted``: the second comes first."""

    connective: str
    first: Clause | Compound
    second: Clause | Compound
    fronted: bool = False
    asked = False
