"""Chinese noun phrases, with measure words, and phrases of place."""

from __future__ import annotations

from collections.abc import Callable

from ..meaning import Clause, Location, Modifier, Name, Nominal, NounPhrase, PlaceName, Pronoun
from ..tree import Leaf, Node, Tree

_DIGITS = ("", "一", "二", "三", "四", "五", "六", "七", "八", "九")
_PRONOUNS = {(1, False): "我", (2, False): "你", (1, True): "我们", (2, True): "你们"}


def numeral(number: int) -> str:
    """Returns a number from 1 to 20 as it is counted with a measure word: 2 is 两."""
    if number == 2:
        return "两"
    tens, units = divmod(number, 10)
    return ("", "十", "二十")[tens] + _DIGITS[units]


def pronoun_form(nominal: Nominal) -> str:
    """Returns the pronoun for a nominal, the same in every case."""
    if nominal.person < 3:
        return _PRONOUNS[nominal.person, nominal.plural]
    stem = ("他" if nominal.gender == "m" else "她") if nominal.human else "它"
    return stem + "们" * nominal.plural


class ChineseNominals:
    """Realizes nominals.

    Args:
        relative_clause: realizes a relative clause, with its final 的; passed in because clauses contain
            nominals.
    """

    def __init__(self, relative_clause: Callable[[Clause], Tree]) -> None:
        self._relative_clause = relative_clause

    def nominal(self, nominal: Nominal, *, negated: bool = False) -> Node:
        """Returns a noun phrase; the indefinite object of a negated verb is a bare noun."""
        if isinstance(nominal, NounPhrase):
            return self._noun_phrase(nominal, negated)
        if isinstance(nominal, Pronoun):
            return Tree("NP", [Leaf("PRON", pronoun_form(nominal), ((nominal, "head"),))])
        if isinstance(nominal, Name):
            return _name(nominal)
        if isinstance(nominal, PlaceName):
            return Tree("NP", [Leaf("PROPN", nominal.name.zh, ((nominal, "head"),))])
        parts = [self.nominal(item, negated=negated) for item in nominal.items]
        children: list[Node] = [parts[0]]
        for part in parts[1:-1]:
            children += [Leaf("PUNCT", "、", ((nominal, "comma"),)), part]
        return Tree("NP", [*children, Leaf("CCONJ", "和", ((nominal, "and"),)), parts[-1]])

    def location(self, location: Location) -> Tree:
        """Returns 在 … 里; a town or country needs no postposition."""
        anchors = ((location, "preposition"),)
        place = self.nominal(location.place)
        after = [Leaf("ADP", location.preposition.zh, anchors)] if location.preposition else []
        return Tree("PP", [Leaf("ADP", "在", anchors), place, *after])

    def _noun_phrase(self, phrase: NounPhrase, negated: bool) -> Tree:
        children: list[Node] = []
        if phrase.possessor:
            children += [self.nominal(phrase.possessor), Leaf("PART", "的", ((phrase, "of"),))]
        children += _determiner(phrase, negated)
        if phrase.relative:
            children.append(self._relative_clause(phrase.relative))
        if phrase.location:
            place = self.location(phrase.location)
            # before a noun the phrase of place drops 在: 桌子 上 的 书
            children.append(Tree("PP", [*place.children[1:], Leaf("PART", "的")]))
        children += [_attribute(use) for use in phrase.adjectives]
        children.append(Leaf("NOUN", phrase.noun.zh, ((phrase, "head"),)))
        if phrase.plural and phrase.human and phrase.determiner in ("definite", "possessive"):
            children.append(Leaf("PART", "们", ((phrase, "head"),)))
        return Tree("NP", children)


def adjective_phrase(use: Modifier) -> Tree:
    """Returns an adjective with its adverb of degree."""
    leaf = Leaf("ADJ", use.adjective.zh, ((use, "head"),))
    return Tree("AP", [Leaf("ADV", use.degree.zh, ((use, "degree"),)), leaf] if use.degree else [leaf])


def _attribute(use: Modifier) -> Tree:
    """Returns an adjective before its noun: with 的 unless it is one character alone."""
    phrase = adjective_phrase(use)
    if use.degree or len(use.adjective.zh) > 1:
        phrase.children.append(Leaf("PART", "的"))
    return phrase


def _name(name: Name) -> Tree:
    leaves: list[Node] = [Leaf("PROPN", name.given.zh, ((name, "head"),))]
    if name.surname:
        leaves += [Leaf("PUNCT", "·"), Leaf("PROPN", name.surname.zh, ((name, "surname"),))]
    return Tree("NP", leaves)


def _determiner(phrase: NounPhrase, negated: bool) -> list[Leaf]:
    kind, anchors = phrase.determiner, ((phrase, "determiner"),)
    measure = Leaf("CLF", phrase.noun.measure, anchors)
    if kind == "definite" or (negated and kind in ("indefinite", "partitive")):
        return []
    if kind == "possessive":
        if phrase.owner is None:
            raise ValueError(f"a possessive without an owner: {phrase.noun.zh}")
        return [Leaf("PRON", pronoun_form(phrase.owner), anchors), Leaf("PART", "的", anchors)]
    if kind == "numeral":
        return [Leaf("NUM", numeral(phrase.number), anchors), measure]
    if kind == "amount":
        return [Leaf("NUM", amount(phrase.number), anchors)]
    if kind == "demonstrative":
        return (
            [Leaf("DET", "这些", anchors)]
            if phrase.plural or phrase.noun.mass
            else [Leaf("DET", "这", anchors), measure]
        )
    if kind == "indefinite" and not phrase.plural:
        return [Leaf("NUM", "一", anchors), measure]
    with_measure = {"each": "每", "several": "好几", "few": "几"}
    if kind in with_measure:
        return [Leaf("DET", with_measure[kind], anchors), measure]
    return [Leaf("DET", "很多" if kind == "many" else "一些", anchors)]


def amount(cents: int) -> str:
    """Returns an amount of money in figures: 1250 → 12.50, 1200 → 12."""
    return f"{cents // 100}.{cents % 100:02d}" if cents % 100 else str(cents // 100)
