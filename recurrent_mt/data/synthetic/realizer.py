"""Constituency trees over tokens, and what the languages' realizers, which make them, have in common.

The defaults are those of French and English.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

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
    NounPhrase,
    PlaceName,
)

#: A node of the meaning and a role in it. Two tokens of a sentence pair that share one are aligned.
Anchor = tuple[object, str]


class Leaf:
    """One token under its part of speech.

    Attributes:
        label: part of speech: a Universal POS tag, or ``CLF`` for a Chinese measure word.
        token: the token.
        anchors: what the token expresses.
        liaison: the form that an adjective takes before a vowel (*beau* → *bel*), if it has one.
    """

    __slots__ = ("anchors", "label", "liaison", "token")

    def __init__(self, label: str, token: str, *anchors: Anchor, liaison: str | None = None) -> None:
        self.label = label
        self.token = token
        self.anchors = anchors
        self.liaison = liaison

    def __str__(self) -> str:
        return f"({self.label} {self.token})"

    def leaves(self) -> Iterator[Leaf]:
        yield self


@dataclass(eq=False, slots=True)
class Tree:
    """A phrase: a label and one or more children, which are trees or leaves. Trees are n-ary.

    ``str(tree)`` is the bracketing of the Penn treebank on one line.
    """

    label: str
    children: list[Node]

    def __str__(self) -> str:
        return f"({self.label} {' '.join(map(str, self.children))})"

    def leaves(self) -> Iterator[Leaf]:
        for child in self.children:
            yield from child.leaves()

    def subtrees(self) -> Iterator[Tree]:
        """Yields this tree and every phrase below it, parents first."""
        yield self
        for child in self.children:
            if isinstance(child, Tree):
                yield from child.subtrees()


Node = Leaf | Tree


class Realizer(ABC):
    """Turns meanings into the trees of one language."""

    language: ClassVar[str]  # its code, the attribute of its words in the lexicon
    connectives: ClassVar[dict[str, str]]  # words that join clauses
    there_word: ClassVar[str]  # the subject of a clause of existence
    and_word: ClassVar[str]  # joins noun phrases
    with_word: ClassVar[str]  # before a companion
    enumeration_comma: ClassVar[str] = ","  # between the first of several noun phrases
    in_word: ClassVar[tuple[str, str]]  # before towns and years
    that_word: ClassVar[str]  # before the clause that is said or thought
    decimal_mark: ClassVar[str] = "."  # in amounts of money
    elided: ClassVar[dict[str, str]] = {}  # forms before vowels of all words but adjectives

    def word(self, entry: Any) -> Any:
        """Returns this language's side of an entry of the lexicon."""
        return getattr(entry, self.language)

    def sentence(self, body: Clause | Compound) -> Tree:
        """Returns the tree of a sentence, its words in their final form."""
        end = Leaf("PUNCT", "?" if body.asked else ".", (body, "end"))
        opening = self.open_question(body) if body.asked else []
        tree = Tree("ROOT", [*opening, self.body(body), end])
        for leaf, following in pairwise(list(tree.leaves())):
            liaison = leaf.liaison or self.elided.get(leaf.token)
            if liaison and self.elides(leaf.token, following.token):
                leaf.token = liaison
        return tree

    def open_question(self, body: Clause | Compound) -> list[Leaf]:
        """Returns words that make a statement a question."""
        return []

    def elides(self, token: str, following: str) -> bool:
        """Whether a word takes its form for use before vowels."""
        return False

    def body(self, body: Clause | Compound) -> Tree:
        """Returns a clause, or several joined."""
        if isinstance(body, Clause):
            return self.clause(body)
        connective, anchor = body.connective, (body, "connective")
        first, second = self.body(body.first), self.body(body.second)
        words = self.connectives[connective].split()
        comma = Leaf("PUNCT", ",", (body, "comma"))
        if connective in ("and", "but", "so"):
            commas = [comma] if connective != "and" else []
            return Tree("S", [first, *commas, Leaf("CCONJ", words[0], anchor), second])
        links = [Leaf("SCONJ", word, anchor) for word in words]
        subordinate = Tree("SBAR", [*links, second])
        return Tree("S", [subordinate, comma, first] if body.fronted else [first, subordinate])

    def clause(self, clause: Clause) -> Tree:
        """Returns the tree of a clause; of a relative clause, what follows its pronoun."""
        *inverted, verb_phrase = self.predicate(clause)
        subject: list[Node] = []
        if isinstance(clause.predicate, Existence):
            subject = [Tree("NP", [Leaf("PRON", self.there_word, (clause, "there"))])]
        elif clause.subject is not None and clause.gap != "subject":
            subject = [self.nominal(clause.subject, "subject")]
        if not clause.time:
            return Tree("S", [*inverted, *subject, verb_phrase])
        time = self.time(clause)
        if clause.time_first:
            return Tree("S", [time, Leaf("PUNCT", ",", (clause, "comma")), *inverted, *subject, verb_phrase])
        return Tree("S", [*inverted, *subject, verb_phrase, time])

    @abstractmethod
    def predicate(self, clause: Clause) -> list[Node]:
        """Returns the verb phrase of a clause, behind the auxiliary that precedes the subject if there is one."""

    def relative_clause(self, clause: Clause) -> Tree:
        pronoun = Leaf("PRON", self.relative_pronoun(clause), (clause, "relative"))
        return Tree("SBAR", [pronoun, self.clause(clause)])

    def relative_pronoun(self, clause: Clause) -> str:
        raise NotImplementedError

    def complement(self, action: Action) -> list[Node]:
        """Returns the clause that is said or thought, if there is one."""
        if not action.complement:
            return []
        that = Leaf("SCONJ", self.that_word, (action, "that"))
        return [Tree("SBAR", [that, self.clause(action.complement)])]

    def circumstances(self, clause: Clause) -> list[Node]:
        """Returns where something happens, and with whom."""
        phrases: list[Node] = [self.location(clause.location)] if clause.location else []
        if clause.companion:
            phrases.append(self.prepositional(self.with_word, clause.companion, (clause, "with")))
        return phrases

    def time(self, clause: Clause) -> Tree:
        if isinstance(clause.time, int):
            return self.year(Leaf("NUM", str(clause.time), (clause, "year")), (clause, "in"))
        words: list[Node] = []
        for word in self.word(clause.time):
            token, label, *keys = word.split("/")
            anchors = [(clause, f"time{key}") for key in keys]
            words.append(Leaf(label, token, *anchors))
        return Tree("NP", words)

    def year(self, year: Leaf, anchor: Anchor) -> Tree:
        """Returns a year as a time expression."""
        return Tree("PP", [Leaf("ADP", self.in_word[1], anchor), year])

    def nominal(self, nominal: Nominal, context: str = "") -> Node:
        """Returns a noun phrase.

        The context is ``subject``; ``negated`` for the object of a negated verb, whose indefinite articles change;
        ``after de``, where *des* and *du* vanish in French; otherwise empty.
        """
        if isinstance(nominal, NounPhrase):
            return self.noun_phrase(nominal, context)
        if isinstance(nominal, Coordination):
            return self.join("NP", [self.nominal(item, context) for item in nominal.items], nominal)
        if isinstance(nominal, Name):
            return Tree("NP", self.name(nominal))
        if isinstance(nominal, PlaceName):
            return self.place_name(nominal)
        return Tree("NP", [self.pronoun(nominal, context)])

    @abstractmethod
    def noun_phrase(self, phrase: NounPhrase, context: str) -> Tree:
        """Returns a noun with its dependents."""

    def noun_dependents(self, phrase: NounPhrase, of: str) -> list[Node]:
        """Returns what follows a noun: the possessor after a preposition, unless that is empty, and the rest."""
        after: list[Node] = []
        if phrase.possessor and of:
            after.append(self.prepositional(of, phrase.possessor, (phrase, "of")))
        if phrase.location:
            after.append(self.location(phrase.location))
        if phrase.relative:
            after.append(self.relative_clause(phrase.relative))
        return after

    @abstractmethod
    def pronoun(self, nominal: Nominal, context: str) -> Leaf:
        """Returns a personal pronoun."""

    def name(self, name: Name) -> list[Node]:
        given = Leaf("PROPN", self.word(name.given), (name, "head"))
        return [given, Leaf("PROPN", self.word(name.surname), (name, "surname"))] if name.surname else [given]

    def place_name(self, place: PlaceName) -> Tree:
        return Tree("NP", [Leaf("PROPN", self.word(place.name), (place, "head"))])

    def join(self, label: str, parts: list[Node], nominal: Coordination) -> Tree:
        """Returns *A, B and C*."""
        children = [parts[0]]
        for part in parts[1:-1]:
            children += [Leaf("PUNCT", self.enumeration_comma, (nominal, "comma")), part]
        return Tree(label, [*children, Leaf("CCONJ", self.and_word, (nominal, "and")), parts[-1]])

    def prepositional(self, words: str, nominal: Nominal, anchor: Anchor) -> Tree:
        leaves = [Leaf("ADP", word, anchor) for word in words.split()]
        return Tree("PP", [*leaves, self.nominal(nominal)])

    def location(self, location: Location) -> Tree:
        words = self.word(location.preposition) if location.preposition else self.in_word[0]
        return self.prepositional(words, location.place, (location, "preposition"))

    def adjective_phrase(self, use: Modifier, token: str, liaison: str | None = None) -> Tree:
        """Returns an adjective in the form given, with its adverb of degree."""
        leaf = Leaf("ADJ", token, (use, "head"), liaison=liaison)
        return Tree("AP", [Leaf("ADV", self.word(use.degree), (use, "degree")), leaf] if use.degree else [leaf])

    def amount(self, cents: int) -> str:
        """Returns an amount of money in figures: 1250 → *12.50*, 1200 → *12*."""
        whole, rest = divmod(cents, 100)
        return f"{whole}{self.decimal_mark}{rest:02d}" if rest else str(whole)
