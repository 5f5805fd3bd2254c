"""English noun phrases and pronouns."""

from __future__ import annotations

from ..meaning import Name, Nominal, NounPhrase
from ..realizer import Realizer
from ..tree import Leaf, Node, Tree

_NUMERALS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_PRONOUNS = {  # subject, object, possessive
    (1, False): ("I", "me", "my"),
    (2, False): ("you", "you", "your"),
    (1, True): ("we", "us", "our"),
    (2, True): ("you", "you", "your"),
    (3, True): ("they", "them", "their"),
}
_SINGULAR = {"m": ("he", "him", "his"), "f": ("she", "her", "her"), "n": ("it", "it", "its")}


class EnglishNominals(Realizer):
    """Realizes nominals."""

    language = "en"
    and_word = "and"
    in_word = ("in", "in")

    def pronoun(self, nominal: Nominal, context: str) -> Leaf:
        """Returns the pronoun of a subject or of an object."""
        return Leaf("PRON", _pronoun_form(nominal, 0 if context == "subject" else 1), (nominal, "head"))

    def noun_phrase(self, phrase: NounPhrase, context: str) -> Tree:
        """Returns a noun with its dependents; under negation *some* becomes *any*."""
        possessor = phrase.possessor
        genitive = possessor is not None and _takes_genitive(possessor)
        children: list[Node] = []
        if possessor and genitive:
            owner = self.nominal(possessor)
            ends_in_s = possessor.plural and list(owner.leaves())[-1].token.endswith("s")
            children.append(Tree("NP", [owner, Leaf("PART", "'" if ends_in_s else "'s", (phrase, "of"))]))
        else:
            children += self._determiner(phrase, negated=context == "negated")
        children += [self.adjective_phrase(use, use.adjective.en) for use in phrase.adjectives]
        children.append(Leaf("NOUN", phrase.noun.en_plural if phrase.plural else phrase.noun.en, (phrase, "head")))
        if possessor and not genitive:
            children.append(self.prepositional("of", possessor, (phrase, "of")))
        if phrase.location:
            children.append(self.location(phrase.location))
        if phrase.relative:
            children.append(self.relative_clause(phrase.relative))
        return Tree("NP", children)

    def _determiner(self, phrase: NounPhrase, *, negated: bool) -> list[Leaf]:
        kind, plural, anchor = phrase.determiner, phrase.plural, (phrase, "determiner")
        if kind in ("numeral", "amount"):
            number = _NUMERALS[phrase.number] if kind == "numeral" else self.amount(phrase.number)
            return [Leaf("NUM", number, anchor)]
        if kind == "possessive":
            assert phrase.owner
            return [Leaf("DET", _pronoun_form(phrase.owner, 2), anchor)]
        if kind == "few":
            return [Leaf("DET", "a", anchor), Leaf("ADJ", "few", anchor)]
        if kind == "indefinite" and not plural:
            return [Leaf("DET", "a", anchor, liaison="an")]
        words = {
            "definite": "the",
            "indefinite": "any" if negated else "some",
            "partitive": "any" if negated else "some",
            "demonstrative": "these" if plural else "this",
            "each": "every",
            "several": "several",
            "many": "many" if plural else "much",
        }
        return [Leaf("DET", words[kind], anchor)]


def _pronoun_form(nominal: Nominal, case: int) -> str:
    """Returns the pronoun for a nominal: case 0 subject, 1 object, 2 possessive."""
    if nominal.person == 3 and not nominal.plural:
        return _SINGULAR[nominal.gender if nominal.human else "n"][case]
    return _PRONOUNS[nominal.person, nominal.plural][case]


def _takes_genitive(possessor: Nominal) -> bool:
    """Whether *X's* is used: for persons named or described before the noun only."""
    if isinstance(possessor, NounPhrase):
        return possessor.human and not (possessor.location or possessor.relative or possessor.possessor)
    return isinstance(possessor, Name)
