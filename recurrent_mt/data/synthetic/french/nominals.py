"""French noun phrases, prepositional phrases and pronouns."""

from __future__ import annotations

from collections.abc import Callable

from ..meaning import Clause, Coordination, Location, Modifier, Name, Nominal, NounPhrase, PlaceName, Pronoun
from ..tree import Leaf, Node, Tree
from .liaison import contract
from .morphology import adjective_form

NUMERALS = (
    "",
    "un",
    "deux",
    "trois",
    "quatre",
    "cinq",
    "six",
    "sept",
    "huit",
    "neuf",
    "dix",
    "onze",
    "douze",
    "treize",
    "quatorze",
    "quinze",
    "seize",
    "dix-sept",
    "dix-huit",
    "dix-neuf",
    "vingt",
)
_SUBJECT = {(1, False): "je", (2, False): "tu", (1, True): "nous", (2, True): "vous"}
_STRONG = {(1, False): "moi", (2, False): "toi", (1, True): "nous", (2, True): "vous"}
_OWNED = {(1, False): "m", (2, False): "t", (3, False): "s"}
_OWNED_BY_MANY = {1: ("notre", "nos"), 2: ("votre", "vos"), 3: ("leur", "leurs")}


def subject_pronoun(pronoun: Pronoun) -> Leaf:
    """Returns *je*, *tu*, *il* and so on."""
    key = (pronoun.person, pronoun.plural)
    token = _SUBJECT.get(key) or ("il" if pronoun.gender == "m" else "elle") + "s" * pronoun.plural
    return Leaf("PRON", token, ((pronoun, "head"),), "j'" if token == "je" else None)


def clitic(pronoun: Pronoun, dative: bool) -> Leaf:
    """Returns the pronoun that precedes the verb as its direct object or, dative, as its recipient."""
    liaison = None
    if pronoun.person < 3:
        token = "nous" if pronoun.person == 1 else "vous"
        if not pronoun.plural:
            token, liaison = ("me", "m'") if pronoun.person == 1 else ("te", "t'")
    elif dative:
        token = "leur" if pronoun.plural else "lui"
    elif pronoun.plural:
        token = "les"
    else:
        token, liaison = "le" if pronoun.gender == "m" else "la", "l'"
    return Leaf("PRON", token, ((pronoun, "head"),), liaison)


def strong_pronoun(pronoun: Pronoun) -> Leaf:
    """Returns the pronoun used after a preposition: *moi*, *lui*, *elle*."""
    token = _STRONG.get((pronoun.person, pronoun.plural))
    if token is None:
        token = ("eux" if pronoun.plural else "lui") if pronoun.gender == "m" else "elle" + "s" * pronoun.plural
    return Leaf("PRON", token, ((pronoun, "head"),))


class FrenchNominals:
    """Realizes nominals.

    Args:
        relative_clause: realizes a relative clause; passed in because clauses contain nominals in turn.
    """

    def __init__(self, relative_clause: Callable[[Clause], Tree]) -> None:
        self._relative_clause = relative_clause

    def nominal(self, nominal: Nominal, context: str = "") -> Node:
        """Returns a noun phrase.

        Args:
            nominal: what it says.
            context: ``negated`` for the object of a negated verb, where *un*, *des* and *du* become *de*;
                ``after de``, where *des* and *du* vanish; otherwise empty.
        """
        if isinstance(nominal, NounPhrase):
            return self._noun_phrase(nominal, context)
        if isinstance(nominal, Pronoun):
            return Tree("NP", [strong_pronoun(nominal)])
        if isinstance(nominal, Name):
            return _name(nominal)
        if isinstance(nominal, PlaceName):
            noun = Leaf("PROPN", nominal.name.fr, ((nominal, "head"),))
            article = [Leaf("DET", "la", (), "l'")] if nominal.name.kind == "country" else []
            return Tree("NP", [*article, noun])
        return _join("NP", [self.nominal(item, context) for item in nominal.items], nominal)

    def prepositional(self, preposition: str, nominal: Nominal, anchors: tuple) -> Tree:
        """Returns a prepositional phrase; *de* and *à* are repeated before each part of a coordination."""
        *words, last = preposition.split()
        if last in ("de", "à"):
            if isinstance(nominal, Coordination):
                parts: list[Node] = [self.prepositional(preposition, item, anchors) for item in nominal.items]
                return _join("PP", parts, nominal)
            if last == "à" and isinstance(nominal, PlaceName) and nominal.name.kind == "country":
                noun = Leaf("PROPN", nominal.name.fr, ((nominal, "head"),))
                return Tree("PP", [Leaf("ADP", "en", anchors), Tree("NP", [noun])])
        phrase = self.nominal(nominal, "after de" if last == "de" else "")
        leaves: list[Node] = [Leaf("ADP", word, anchors) for word in words]
        if last not in ("de", "à") or not contract(phrase, last, anchors):
            leaves.append(Leaf("ADP", last, anchors, "d'" if last == "de" else None))
        return Tree("PP", [*leaves, phrase])

    def location(self, location: Location) -> Tree:
        """Returns the prepositional phrase of a place."""
        words = " ".join(location.preposition.fr) if location.preposition else "à"
        return self.prepositional(words, location.place, ((location, "preposition"),))

    def _noun_phrase(self, phrase: NounPhrase, context: str) -> Tree:
        gender, plural = phrase.gender, phrase.plural
        before = [use for use in phrase.adjectives if use.adjective.before]
        after = [use for use in phrase.adjectives if not use.adjective.before]
        children: list[Node] = list(_determiner(phrase, context, bool(before)))
        children += [adjective_phrase(use, gender, plural) for use in before]
        noun = phrase.noun.fr_plural if plural else phrase.noun.fr
        children.append(Leaf("NOUN", noun, ((phrase, "head"),)))
        children += [adjective_phrase(use, gender, plural) for use in after]
        if phrase.possessor:
            children.append(self.prepositional("de", phrase.possessor, ((phrase, "of"),)))
        if phrase.location:
            children.append(self.location(phrase.location))
        if phrase.relative:
            children.append(self._relative_clause(phrase.relative))
        return Tree("NP", children)


def adjective_phrase(use: Modifier, gender: str, plural: bool) -> Tree:
    """Returns an adjective, with its adverb of degree, that agrees with gender and number."""
    adjective = use.adjective
    liaison = adjective.liaison if gender == "m" and not plural else None
    leaf = Leaf("ADJ", adjective_form(adjective, gender, plural), ((use, "head"),), liaison)
    return Tree("AP", [Leaf("ADV", use.degree.fr, ((use, "degree"),)), leaf] if use.degree else [leaf])


def _name(name: Name) -> Tree:
    leaves: list[Node] = [Leaf("PROPN", name.given.fr, ((name, "head"),))]
    if name.surname:
        leaves.append(Leaf("PROPN", name.surname.fr, ((name, "surname"),)))
    return Tree("NP", leaves)


def _join(label: str, parts: list[Node], nominal: Coordination) -> Tree:
    """Returns *A, B et C*."""
    children: list[Node] = [parts[0]]
    for part in parts[1:-1]:
        children += [Leaf("PUNCT", ",", ((nominal, "comma"),)), part]
    return Tree(label, [*children, Leaf("CCONJ", "et", ((nominal, "and"),)), parts[-1]])


def _determiner(phrase: NounPhrase, context: str, adjective_follows: bool) -> list[Leaf]:
    """Returns the words before the noun and its adjectives."""
    kind, feminine, plural = phrase.determiner, phrase.gender == "f", phrase.plural
    anchors = ((phrase, "determiner"),)
    if kind == "partitive" or (kind == "indefinite" and (plural or context == "negated")):
        return _indefinite(phrase, context, adjective_follows)
    if kind == "definite":
        token = "les" if plural else "la" if feminine else "le"
        return [Leaf("DET", token, anchors, None if plural else "l'")]
    if kind == "demonstrative":
        token = "ces" if plural else "cette" if feminine else "ce"
        return [Leaf("DET", token, anchors, "cet" if token == "ce" else None)]
    if kind == "possessive":
        return [_possessive(phrase)]
    if kind == "many":
        return [Leaf("DET", "beaucoup", anchors), Leaf("ADP", "de", anchors, "d'")]
    if kind in ("numeral", "amount"):
        number = NUMERALS[phrase.number] if kind == "numeral" else amount(phrase.number)
        return [Leaf("NUM", number, anchors)]
    words = {
        "indefinite": "une" if feminine else "un",
        "each": "chaque",
        "several": "plusieurs",
        "few": "quelques",
    }
    return [Leaf("DET", words[kind], anchors)]


def _indefinite(phrase: NounPhrase, context: str, adjective_follows: bool) -> list[Leaf]:
    """Returns *des* or the partitive, or the *de* that replaces them, and *un*, under negation."""
    anchors = ((phrase, "determiner"),)
    if context == "after de":
        return []
    if context == "negated" or (phrase.plural and adjective_follows):
        return [Leaf("DET", "de", anchors, "d'")]
    if phrase.plural:
        return [Leaf("DET", "des", anchors)]
    if phrase.gender == "f":
        return [Leaf("ADP", "de", anchors, "d'"), Leaf("DET", "la", anchors, "l'")]
    return [Leaf("DET", "du", anchors)]


def amount(cents: int) -> str:
    """Returns an amount of money in figures: 1250 → *12,50*, 1200 → *12*."""
    return f"{cents // 100},{cents % 100:02d}" if cents % 100 else str(cents // 100)


def _possessive(phrase: NounPhrase) -> Leaf:
    owner = phrase.owner
    if owner is None:
        raise ValueError(f"a possessive without an owner: {phrase.noun.fr}")
    anchors = ((phrase, "determiner"),)
    if owner.plural:
        return Leaf("DET", _OWNED_BY_MANY[owner.person][phrase.plural], anchors)
    stem = _OWNED[owner.person, False]
    if phrase.plural:
        return Leaf("DET", stem + "es", anchors)
    feminine = phrase.gender == "f"
    return Leaf("DET", stem + ("a" if feminine else "on"), anchors, stem + "on" if feminine else None)
