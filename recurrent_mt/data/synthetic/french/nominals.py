"""French noun phrases, prepositional phrases and pronouns."""

from __future__ import annotations

from ..lexicon.entries import Adjective
from ..meaning import Coordination, Nominal, NounPhrase, PlaceName, Pronoun
from ..realizer import Realizer
from ..tree import Anchor, Leaf, Node, Tree
from .liaison import contract
from .morphology import adjective_form

_NUMERALS = (
    *("zéro", "un", "deux", "trois", "quatre", "cinq", "six"),
    *("sept", "huit", "neuf", "dix", "onze", "douze", "treize"),
    *("quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf", "vingt"),
)
_SUBJECT = {(1, False): "je", (2, False): "tu", (1, True): "nous", (2, True): "vous"}
_STRONG = {(1, False): "moi", (2, False): "toi", (1, True): "nous", (2, True): "vous"}
_CLITIC = {(1, False): "me", (2, False): "te", (1, True): "nous", (2, True): "vous"}
_OWNED = {1: "m", 2: "t", 3: "s"}
_OWNED_BY_MANY = {1: ("notre", "nos"), 2: ("votre", "vos"), 3: ("leur", "leurs")}


class FrenchNominals(Realizer):
    """Realizes nominals."""

    language = "fr"
    and_word = "et"
    in_word = ("à", "en")
    decimal_mark = ","

    def pronoun(self, nominal: Nominal, context: str) -> Leaf:
        """Returns the pronoun of a subject, or the one used after a preposition: *moi*, *lui*, *elle*."""
        key, masculine = (nominal.person, nominal.plural), nominal.gender == "m"
        if context == "subject":
            token = _SUBJECT.get(key) or ("il" if masculine else "elle") + "s" * nominal.plural
        else:
            third = ("eux" if nominal.plural else "lui") if masculine else "elle" + "s" * nominal.plural
            token = _STRONG.get(key) or third
        return Leaf("PRON", token, (nominal, "head"), liaison="j'" if token == "je" else None)

    def place_name(self, place: PlaceName) -> Tree:
        """Returns a town, or a country with its article."""
        phrase = super().place_name(place)
        if place.name.kind == "country":
            phrase.children.insert(0, Leaf("DET", "la", liaison="l'"))
        return phrase

    def prepositional(self, words: str, nominal: Nominal, anchor: Anchor) -> Tree:
        """Returns a prepositional phrase; *de* and *à* are repeated before each part of a coordination."""
        *before, last = words.split()
        fusing = last in ("de", "à")
        if fusing and isinstance(nominal, Coordination):
            return self.join("PP", [self.prepositional(words, item, anchor) for item in nominal.items], nominal)
        if last == "à" and isinstance(nominal, PlaceName) and nominal.name.kind == "country":
            return Tree("PP", [Leaf("ADP", "en", anchor), super().place_name(nominal)])
        phrase = self.nominal(nominal, "after de" if last == "de" else "")
        leaves: list[Node] = [Leaf("ADP", word, anchor) for word in before]
        if not (fusing and contract(phrase, last, anchor)):
            leaves.append(Leaf("ADP", last, anchor, liaison="d'" if last == "de" else None))
        return Tree("PP", [*leaves, phrase])

    def noun_phrase(self, phrase: NounPhrase, context: str) -> Tree:
        """Returns a noun with its dependents; under negation *un*, *des* and *du* become *de*."""
        phrases = {
            before: [
                self.adjective_phrase(use, *agree(use.adjective, phrase))
                for use in phrase.adjectives
                if use.adjective.before == before
            ]
            for before in (True, False)
        }
        noun = Leaf("NOUN", phrase.noun.fr_plural if phrase.plural else phrase.noun.fr, (phrase, "head"))
        determiner = self._determiner(phrase, context, adjective_follows=bool(phrases[True]))
        children: list[Node] = [*determiner, *phrases[True], noun, *phrases[False]]
        if phrase.possessor:
            children.append(self.prepositional("de", phrase.possessor, (phrase, "of")))
        if phrase.location:
            children.append(self.location(phrase.location))
        if phrase.relative:
            children.append(self.relative_clause(phrase.relative))
        return Tree("NP", children)

    def _determiner(self, phrase: NounPhrase, context: str, *, adjective_follows: bool) -> list[Leaf]:
        """Returns the words before the noun and its adjectives."""
        kind, feminine, plural = phrase.determiner, phrase.gender == "f", phrase.plural
        anchor = (phrase, "determiner")
        if kind == "partitive" or (kind == "indefinite" and (plural or context == "negated")):
            return _indefinite(phrase, context, adjective_follows)
        if kind == "possessive":
            return [_possessive(phrase)]
        if kind == "many":
            return [Leaf("DET", "beaucoup", anchor), Leaf("ADP", "de", anchor, liaison="d'")]
        if kind in ("numeral", "amount"):
            number = _NUMERALS[phrase.number] if kind == "numeral" else self.amount(phrase.number)
            return [Leaf("NUM", number, anchor)]
        words = {
            "definite": "les" if plural else "la" if feminine else "le",
            "demonstrative": "ces" if plural else "cette" if feminine else "ce",
            "indefinite": "une" if feminine else "un",
            "each": "chaque",
            "several": "plusieurs",
            "few": "quelques",
        }
        liaison = {"le": "l'", "la": "l'", "ce": "cet"}.get(words[kind])
        return [Leaf("DET", words[kind], anchor, liaison=liaison)]


def clitic(pronoun: Pronoun, dative: bool) -> Leaf:
    """Returns the pronoun that precedes the verb as its direct object or, dative, as its recipient."""
    if dative:
        third = "leur" if pronoun.plural else "lui"
    else:
        third = "les" if pronoun.plural else "le" if pronoun.gender == "m" else "la"
    token = _CLITIC.get((pronoun.person, pronoun.plural), third)
    liaison = token[0] + "'" if token in ("me", "te", "le", "la") else None
    return Leaf("PRON", token, (pronoun, "head"), liaison=liaison)


def agree(adjective: Adjective, noun: Nominal) -> tuple[str, str | None]:
    """Returns the form of an adjective that agrees with a nominal, and its form before vowels."""
    liaison = adjective.liaison if noun.gender == "m" and not noun.plural else None
    return adjective_form(adjective, noun.gender, noun.plural), liaison


def _indefinite(phrase: NounPhrase, context: str, adjective_follows: bool) -> list[Leaf]:
    """Returns *des* or the partitive, or the *de* that replaces them, and *un*, under negation."""
    anchor = (phrase, "determiner")
    if context == "after de":
        return []
    if context == "negated" or (phrase.plural and adjective_follows):
        return [Leaf("DET", "de", anchor, liaison="d'")]
    if phrase.plural or phrase.gender == "m":
        return [Leaf("DET", "des" if phrase.plural else "du", anchor)]
    return [Leaf("ADP", "de", anchor, liaison="d'"), Leaf("DET", "la", anchor, liaison="l'")]


def _possessive(phrase: NounPhrase) -> Leaf:
    owner, anchor = phrase.owner, (phrase, "determiner")
    assert owner
    if owner.plural:
        return Leaf("DET", _OWNED_BY_MANY[owner.person][phrase.plural], anchor)
    stem = _OWNED[owner.person]
    if phrase.plural or phrase.gender == "m":
        return Leaf("DET", stem + ("es" if phrase.plural else "on"), anchor)
    return Leaf("DET", stem + "a", anchor, liaison=stem + "on")
