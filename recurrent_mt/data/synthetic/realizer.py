"""Constituency trees over tokens, and what the languages' realizers, which make them, have in common.

The defaults are those of French and English.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from .meaning import Adjective, Clause, Compound, Coordination, Location, Name, Nominal, NounPhrase

#: A node of the meaning and a role in it. Two tokens of a sentence pair that share one are aligned.
Anchor = tuple[object, str]


class Leaf:
    """One token under its part of speech.

    Attributes:
        label: part of speech: a Universal POS tag, or ``CLF`` for a Chinese measure word.
        token: the token.
        anchors: what the token expresses.
    """

    __slots__ = ("anchors", "label", "token")

    def __init__(self, label: str, token: str, *anchors: Anchor) -> None:
        self.label = label
        self.token = token
        self.anchors = anchors

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


Node = Leaf | Tree


class Realizer(ABC):
    """Turns meanings into the trees of one language."""

    language: ClassVar[str]  # its code, the attribute of its words in the lexicon
    connectives: ClassVar[dict[str, str]]  # words that join clauses
    and_word: ClassVar[str]  # joins noun phrases
    town_word: ClassVar[str]  # before towns
    that_word: ClassVar[str]  # before the clause that is said or thought
    elided: ClassVar[dict[str, str]]  # forms before vowels
    enumeration_comma: ClassVar[str] = ","  # between the first of several noun phrases

    def word(self, entry: Any) -> Any:
        """Returns this language's side of an entry of the lexicon."""
        return getattr(entry, self.language)

    def sentence(self, body: Clause | Compound) -> Tree:
        """Returns the tree of a sentence, its words in their final form."""
        end = Leaf("PUNCT", "?" if body.asked else ".", (body, "end"))
        opening = self.open_question(body) if body.asked else []
        tree = Tree("ROOT", [*opening, self.body(body), end])
        for leaf, following in pairwise(list(tree.leaves())):
            if leaf.token in self.elided and self.elides(leaf.token, following.token):
                leaf.token = self.elided[leaf.token]
        return tree

    def open_question(self, body: Clause | Compound) -> list[Leaf]:
        """Returns the words that begin an open question."""
        return []

    def elides(self, token: str, following: str) -> bool:
        """Whether a word takes its form for use before vowels."""
        raise NotImplementedError

    def body(self, body: Clause | Compound) -> Tree:
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
        core: list[Node] = [*inverted, verb_phrase]
        if clause.subject is not None:
            core.insert(len(inverted), self.nominal(clause.subject, "subject"))
        if clause.time and clause.time_first:
            return Tree("S", [self.time(clause), Leaf("PUNCT", ",", (clause, "comma")), *core])
        return Tree("S", [*core, self.time(clause)] if clause.time else core)

    @abstractmethod
    def predicate(self, clause: Clause) -> list[Node]:
        """Returns the verb phrase of a clause, behind the auxiliary that precedes the subject if there is one."""

    def relative_clause(self, clause: Clause) -> Tree:
        pronoun = Leaf("PRON", self.relative_pronoun(clause), (clause, "relative"))
        return Tree("SBAR", [pronoun, self.clause(clause)])

    def relative_pronoun(self, clause: Clause) -> str:
        raise NotImplementedError

    def complement(self, clause: Clause) -> list[Node]:
        """Returns the clause that is said or thought, if there is one."""
        if not clause.complement:
            return []
        return [Tree("SBAR", [Leaf("SCONJ", self.that_word, (clause, "that")), self.clause(clause.complement)])]

    def manner(self, clause: Clause) -> list[Node]:
        anchor = (clause, "manner")
        return [Tree("AdvP", [Leaf("ADV", self.word(clause.manner), anchor)])] if clause.manner else []

    def time(self, clause: Clause) -> Tree:
        words: list[Node] = []
        for word in self.word(clause.time):
            token, label, *keys = word.split("/")
            anchors = [(clause, f"time{key}") for key in keys]
            words.append(Leaf(label, token, *anchors))
        return Tree("NP", words)

    def adjective_phrase(self, clause: Clause, token: str) -> Tree:
        """Returns an adjective that is a predicate, in the form given, with its adverb of degree."""
        degree = [Leaf("ADV", self.word(clause.degree), (clause, "degree"))] if clause.degree else []
        return Tree("AP", [*degree, Leaf("ADJ", token, (clause, "adjective"))])

    def attribute(self, phrase: NounPhrase, adjective: Adjective) -> Tree:
        return Tree("AP", [Leaf("ADJ", self.word(adjective), (phrase, "adjective"))])

    def nominal(self, nominal: Nominal, context: str = "") -> Node:
        """Returns a noun phrase.

        The context is ``subject``; ``negated`` for the object of a negated verb, whose indefinite articles change;
        ``after de``, where *des* vanishes in French; otherwise empty.
        """
        if isinstance(nominal, NounPhrase):
            return self.noun_phrase(nominal, context)
        if isinstance(nominal, Coordination):
            return self.join("NP", [self.nominal(item, context) for item in nominal.items], nominal)
        if isinstance(nominal, Name):
            return Tree("NP", self.name(nominal))
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
        first = Leaf("PROPN", self.word(name.name), (name, "head"))
        return [first, Leaf("PROPN", self.word(name.surname), (name, "surname"))] if name.surname else [first]

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
        words = self.word(location.preposition) if location.preposition else self.town_word
        return self.prepositional(words, location.place, (location, "preposition"))
