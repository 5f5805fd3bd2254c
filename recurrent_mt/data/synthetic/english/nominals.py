"""English noun phrases, prepositional phrases and pronouns."""

from __future__ import annotations

from collections.abc import Callable

from ..meaning import Clause, Location, Modifier, Name, Nominal, NounPhrase, PlaceName, Pronoun
from ..tree import Leaf, Node, Tree

NUMERALS = (
    "",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
)
_PRONOUNS = {  # subject, object, possessive
    (1, False): ("I", "me", "my"),
    (2, False): ("you", "you", "your"),
    (1, True): ("we", "us", "our"),
    (2, True): ("you", "you", "your"),
    (3, True): ("they", "them", "their"),
}
_SINGULAR = {"m": ("he", "him", "his"), "f": ("she", "her", "her"), "n": ("it", "it", "its")}
_CONSONANT_START = ("uni", "eu", "use", "one", "Uni", "Eu")
_VOWEL_START = ("hour", "honest", "heir")


def begins_with_vowel(token: str) -> bool:
    """Whether *a* becomes *an* before the token."""
    return token.startswith(_VOWEL_START) or (token[0] in "aeiouAEIOU" and not token.startswith(_CONSONANT_START))


def pronoun_form(nominal: Nominal, case: int) -> str:
    """Returns the pronoun for a nominal: case 0 subject, 1 object, 2 possessive."""
    if nominal.person == 3 and not nominal.plural:
        return _SINGULAR[nominal.gender if nominal.human else "n"][case]
    return _PRONOUNS[nominal.person, nominal.plural][case]


class EnglishNominals:
    """Realizes nominals.

    Args:
        relative_clause: realizes a relative clause; passed in because clauses contain nominals in turn.
    """

    def __init__(self, relative_clause: Callable[[Clause], Tree]) -> None:
        self._relative_clause = relative_clause

    def nominal(self, nominal: Nominal, *, subject: bool = False, negated: bool = False) -> Node:
        """Returns a noun phrase; the indefinite object of a negated verb takes *any*."""
        if isinstance(nominal, NounPhrase):
            return self._noun_phrase(nominal, negated)
        if isinstance(nominal, Pronoun):
            token = pronoun_form(nominal, 0 if subject else 1)
            return Tree("NP", [Leaf("PRON", token, ((nominal, "head"),))])
        if isinstance(nominal, Name):
            return _name(nominal)
        if isinstance(nominal, PlaceName):
            return Tree("NP", [Leaf("PROPN", nominal.name.en, ((nominal, "head"),))])
        parts = [self.nominal(item, subject=subject, negated=negated) for item in nominal.items]
        children: list[Node] = [parts[0]]
        for part in parts[1:-1]:
            children += [Leaf("PUNCT", ",", ((nominal, "comma"),)), part]
        return Tree("NP", [*children, Leaf("CCONJ", "and", ((nominal, "and"),)), parts[-1]])

    def prepositional(self, words: str, nominal: Nominal, anchors: tuple) -> Tree:
        """Returns a prepositional phrase."""
        return Tree("PP", [*(Leaf("ADP", word, anchors) for word in words.split()), self.nominal(nominal)])

    def location(self, location: Location) -> Tree:
        """Returns the prepositional phrase of a place."""
        words = " ".join(location.preposition.en) if location.preposition else "in"
        return self.prepositional(words, location.place, ((location, "preposition"),))

    def _noun_phrase(self, phrase: NounPhrase, negated: bool) -> Tree:
        possessor = phrase.possessor
        genitive = possessor is not None and _takes_genitive(possessor)
        children: list[Node] = []
        if possessor and genitive:
            owner = self.nominal(possessor)
            ends_in_s = possessor.plural and list(owner.leaves())[-1].token.endswith("s")
            marker = Leaf("PART", "'" if ends_in_s else "'s", ((phrase, "of"),))
            children.append(Tree("NP", [owner, marker]))
        else:
            children += _determiner(phrase, negated)
        children += [adjective_phrase(use) for use in phrase.adjectives]
        noun = phrase.noun.en_plural if phrase.plural else phrase.noun.en
        children.append(Leaf("NOUN", noun, ((phrase, "head"),)))
        if possessor and not genitive:
            children.append(self.prepositional("of", possessor, ((phrase, "of"),)))
        if phrase.location:
            children.append(self.location(phrase.location))
        if phrase.relative:
            children.append(self._relative_clause(phrase.relative))
        return Tree("NP", children)


def adjective_phrase(use: Modifier) -> Tree:
    """Returns an adjective with its adverb of degree."""
    leaf = Leaf("ADJ", use.adjective.en, ((use, "head"),))
    return Tree("AP", [Leaf("ADV", use.degree.en, ((use, "degree"),)), leaf] if use.degree else [leaf])


def _takes_genitive(possessor: Nominal) -> bool:
    """Whether *X's* is used: for persons named or described before the noun only."""
    if isinstance(possessor, NounPhrase):
        return possessor.human and not (possessor.location or possessor.relative or possessor.possessor)
    return isinstance(possessor, Name)


def _name(name: Name) -> Tree:
    leaves: list[Node] = [Leaf("PROPN", name.given.en, ((name, "head"),))]
    if name.surname:
        leaves.append(Leaf("PROPN", name.surname.en, ((name, "surname"),)))
    return Tree("NP", leaves)


def amount(cents: int) -> str:
    """Returns an amount of money in figures: 1250 → *12.50*, 1200 → *12*."""
    return f"{cents // 100}.{cents % 100:02d}" if cents % 100 else str(cents // 100)


def _determiner(phrase: NounPhrase, negated: bool) -> list[Leaf]:
    kind, plural = phrase.determiner, phrase.plural
    anchors = ((phrase, "determiner"),)
    if kind == "numeral":
        return [Leaf("NUM", NUMERALS[phrase.number], anchors)]
    if kind == "amount":
        return [Leaf("NUM", amount(phrase.number), anchors)]
    if kind == "possessive":
        if phrase.owner is None:
            raise ValueError(f"a possessive without an owner: {phrase.noun.en}")
        return [Leaf("DET", pronoun_form(phrase.owner, 2), anchors)]
    if kind == "few":
        return [Leaf("DET", "a", anchors), Leaf("ADJ", "few", anchors)]
    if kind == "indefinite" and not plural:
        return [Leaf("DET", "a", anchors, "an")]
    words = {
        "definite": "the",
        "indefinite": "any" if negated else "some",
        "partitive": "any" if negated else "some",
        "demonstrative": "these" if plural else "this",
        "each": "every",
        "several": "several",
        "many": "many" if plural else "much",
    }
    return [Leaf("DET", words[kind], anchors)]
