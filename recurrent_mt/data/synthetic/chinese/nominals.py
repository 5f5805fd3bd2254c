"""Chinese noun phrases, with measure words, and phrases of place."""

from __future__ import annotations

from ..meaning import Location, Modifier, Name, Nominal, NounPhrase
from ..realizer import Realizer
from ..tree import Anchor, Leaf, Node, Tree

_DIGITS = ("", *"一二三四五六七八九")
_PRONOUNS = {1: "我", 2: "你"}


class ChineseNominals(Realizer):
    """Realizes nominals."""

    language = "zh"
    and_word = "和"
    enumeration_comma = "、"

    def elides(self, token: str, following: str) -> bool:
        """Nothing does."""
        return False

    def pronoun(self, nominal: Nominal, context: str) -> Leaf:
        """Returns the pronoun for a nominal, the same in every case."""
        return Leaf("PRON", _pronoun_form(nominal), (nominal, "head"))

    def name(self, name: Name) -> list[Node]:
        """Returns a person's name, with a dot before the surname."""
        given, *surname = super().name(name)
        return [given, Leaf("PUNCT", "·"), *surname] if surname else [given]

    def year(self, year: Leaf, anchor: Anchor) -> Tree:
        """Returns … 年."""
        return Tree("NP", [year, Leaf("NOUN", "年", anchor)])

    def location(self, location: Location) -> Tree:
        """Returns 在 … 里; a town or country needs no postposition."""
        anchor = (location, "preposition")
        after = [Leaf("ADP", location.preposition.zh, anchor)] if location.preposition else []
        return Tree("PP", [Leaf("ADP", "在", anchor), self.nominal(location.place), *after])

    def noun_phrase(self, phrase: NounPhrase, context: str) -> Tree:
        """Returns a noun with its dependents; the indefinite object of a negated verb is a bare noun."""
        children: list[Node] = []
        if phrase.possessor:
            children += [self.nominal(phrase.possessor), Leaf("PART", "的", (phrase, "of"))]
        children += self._determiner(phrase, negated=context == "negated")
        if phrase.relative:
            children.append(self.relative_clause(phrase.relative))
        if phrase.location:
            place = self.location(phrase.location)
            # before a noun the phrase of place drops 在: 桌子 上 的 书
            children.append(Tree("PP", [*place.children[1:], Leaf("PART", "的")]))
        children += map(self._attribute, phrase.adjectives)
        children.append(Leaf("NOUN", phrase.noun.zh, (phrase, "head")))
        if phrase.plural and phrase.human and phrase.determiner in ("definite", "possessive"):
            children.append(Leaf("PART", "们", (phrase, "head")))
        return Tree("NP", children)

    def _attribute(self, use: Modifier) -> Tree:
        """Returns an adjective before its noun: with 的 unless it is one character alone."""
        phrase = self.adjective_phrase(use, use.adjective.zh)
        if use.degree or len(use.adjective.zh) > 1:
            phrase.children.append(Leaf("PART", "的"))
        return phrase

    def _determiner(self, phrase: NounPhrase, *, negated: bool) -> list[Leaf]:
        kind, anchor = phrase.determiner, (phrase, "determiner")
        if kind == "definite" or (negated and kind in ("indefinite", "partitive")):
            return []
        if kind == "possessive":
            assert phrase.owner
            return [Leaf("PRON", _pronoun_form(phrase.owner), anchor), Leaf("PART", "的", anchor)]
        if kind == "amount":
            return [Leaf("NUM", self.amount(phrase.number), anchor)]
        if kind == "demonstrative" and (phrase.plural or phrase.noun.mass):
            return [Leaf("DET", "这些", anchor)]
        measure = Leaf("CLF", phrase.noun.measure, anchor)
        if kind == "numeral" or (kind == "indefinite" and not phrase.plural):
            return [Leaf("NUM", _numeral(phrase.number) if kind == "numeral" else "一", anchor), measure]
        measured = {"demonstrative": "这", "each": "每", "several": "好几", "few": "几"}
        if kind in measured:
            return [Leaf("DET", measured[kind], anchor), measure]
        return [Leaf("DET", "很多" if kind == "many" else "一些", anchor)]


def _numeral(number: int) -> str:
    """Returns a number from 1 to 20 as it is counted with a measure word: 2 is 两."""
    tens, units = divmod(number, 10)
    return "两" if number == 2 else ("", "十", "二十")[tens] + _DIGITS[units]


def _pronoun_form(nominal: Nominal) -> str:
    third = ("他" if nominal.gender == "m" else "她") if nominal.human else "它"
    return _PRONOUNS.get(nominal.person, third) + "们" * nominal.plural
