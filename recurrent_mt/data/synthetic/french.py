"""French: elision, contraction and agreement; noun phrases, clauses and sentences."""

from __future__ import annotations

from typing import ClassVar

from .lexicon import conjugation
from .meaning import Adjective, Clause, Compound, Coordination, Nominal, NounPhrase, Pronoun
from .realizer import Anchor, Leaf, Node, Realizer, Tree

_VOWELS = frozenset("aàâæeéèêëiîïoôœuùûyhAÀÂÆEÉÈÊËIÎÏOÔŒUÙÛYH")  # no word of the lexicon has an aspirated h
_NUMERALS = ("zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept")
_SUBJECT = {(1, False): "je", (2, False): "tu", (1, True): "nous", (2, True): "vous"}
_CLITIC = {(1, False): "me", (2, False): "te", (1, True): "nous", (2, True): "vous"}
_OWNED = {1: "m", 2: "t", 3: "s"}
_OWNED_BY_MANY = {1: ("notre", "nos"), 2: ("votre", "vos"), 3: ("leur", "leurs")}


class French(Realizer):
    """Realizes meanings as French trees."""

    language = "fr"
    and_word = "et"
    town_word = "à"
    that_word = "que"
    connectives: ClassVar = {
        "and": "et",
        "but": "mais",
        "so": "donc",
        "because": "parce que",
        "when": "quand",
        "if": "si",
    }
    elided: ClassVar = {
        "ce": "cet",
        "de": "d'",
        "je": "j'",
        "la": "l'",
        "le": "l'",
        "ma": "mon",
        "me": "m'",
        "ne": "n'",
        "que": "qu'",
        "sa": "son",
        "si": "s'",
        "ta": "ton",
        "te": "t'",
    }

    def open_question(self, body: Clause | Compound) -> list[Leaf]:
        """Returns *est-ce que*, which begins an open question."""
        anchor = (body, "question")
        return [Leaf("ADV", "est-ce", anchor), Leaf("SCONJ", "que", anchor)]

    def elides(self, token: str, following: str) -> bool:
        """Whether a vowel follows; *si* elides before *il* and *ils* alone."""
        return following in ("il", "ils") if token == "si" else following[0] in _VOWELS

    def relative_pronoun(self, clause: Clause) -> str:
        return "qui" if clause.gap == "subject" else "que"

    def predicate(self, clause: Clause) -> list[Node]:
        verb = clause.predicate
        if isinstance(verb, Adjective):
            form = agree(verb, clause.agreeing)
            return [Tree("VP", [_nucleus(clause, "être"), self.adjective_phrase(clause, form)])]
        children: list[Node] = [_nucleus(clause, verb.fr), *self.manner(clause)]
        if clause.object and verb.fr_preposition:
            children.append(self.prepositional(verb.fr_preposition, clause.object, (clause, "preposition")))
        elif clause.object and not isinstance(clause.object, Pronoun):
            children.append(self.nominal(clause.object, "negated" if clause.negated else ""))
        if clause.recipient:
            children.append(self.prepositional("à", clause.recipient, (clause, "to")))
        place = [self.location(clause.location)] if clause.location else []
        return [Tree("VP", [*children, *self.complement(clause), *place])]

    def pronoun(self, nominal: Nominal, context: str) -> Leaf:
        third = ("il", "ils") if nominal.gender == "m" else ("elle", "elles")
        token = _SUBJECT.get((nominal.person, nominal.plural)) or third[nominal.plural]
        return Leaf("PRON", token, (nominal, "head"))

    def prepositional(self, words: str, nominal: Nominal, anchor: Anchor) -> Tree:
        """Returns a prepositional phrase; *de* and *à* are repeated before each part of a coordination."""
        *before, last = words.split()
        fusing = last in ("de", "à")
        if fusing and isinstance(nominal, Coordination):
            return self.join("PP", [self.prepositional(words, item, anchor) for item in nominal.items], nominal)
        phrase = self.nominal(nominal, "after de" if last == "de" else "")
        leaves: list[Node] = [Leaf("ADP", word, anchor) for word in before]
        if not (fusing and contract(phrase, last, anchor)):
            leaves.append(Leaf("ADP", last, anchor))
        return Tree("PP", [*leaves, phrase])

    def noun_phrase(self, phrase: NounPhrase, context: str) -> Tree:
        noun, adjective = phrase.noun, phrase.adjective
        children: list[Node] = [Leaf("NOUN", noun.fr_plural if phrase.plural else noun.fr, (phrase, "head"))]
        before = adjective is not None and adjective.before
        if adjective:
            leaf = Leaf("ADJ", agree(adjective, phrase), (phrase, "adjective"))
            children.insert(0 if before else 1, Tree("AP", [leaf]))
        determiner = _determiner(phrase, context, adjective_follows=before)
        return Tree("NP", [*determiner, *children, *self.noun_dependents(phrase, "de")])


def contract(node: Node, preposition: str, anchor: Anchor) -> bool:
    """Fuses *de* or *à* with the definite article that begins the phrase, *du*, *aux*; returns whether one does."""
    leaves = node.leaves()
    article, following = next(leaves), next(leaves, None)
    if article.label != "DET" or article.token not in ("le", "les") or following is None:
        return False
    if article.token == "le" and following.token[0] in _VOWELS:
        return False
    plural = article.token == "les"
    article.token = {"de": "des" if plural else "du", "à": "aux" if plural else "au"}[preposition]
    article.label, article.anchors = "ADP", (*article.anchors, anchor)
    return True


def participle_form(participle: str, gender: str, plural: bool) -> str:
    """Returns a past participle that agrees with gender and number."""
    form = participle + ("e" if gender == "f" else "")
    return form if not plural or form.endswith("s") else form + "s"


def agree(adjective: Adjective, noun: Nominal) -> str:
    """Returns the form of an adjective that agrees with a nominal."""
    if noun.gender == "f":
        return adjective.feminine + ("s" if noun.plural else "")
    return adjective.plural if noun.plural else adjective.fr


def _determiner(phrase: NounPhrase, context: str, *, adjective_follows: bool) -> list[Leaf]:
    """Returns the words before the noun and its adjective; *un* and *des* become *de* under negation."""
    kind, feminine, plural, anchor = phrase.determiner, phrase.gender == "f", phrase.plural, (phrase, "determiner")
    if kind == "indefinite" and plural and context == "after de":
        return []
    if kind == "indefinite" and (context == "negated" or (plural and adjective_follows)):
        return [Leaf("DET", "de", anchor)]
    if kind == "possessive":
        return [_possessive(phrase)]
    if kind == "many":
        return [Leaf("DET", "beaucoup", anchor), Leaf("ADP", "de", anchor)]
    if kind == "numeral":
        return [Leaf("NUM", _NUMERALS[phrase.number], anchor)]
    words = {
        "definite": "les" if plural else "la" if feminine else "le",
        "demonstrative": "ces" if plural else "cette" if feminine else "ce",
        "indefinite": "des" if plural else "une" if feminine else "un",
        "several": "plusieurs",
    }
    return [Leaf("DET", words[kind], anchor)]


def _possessive(phrase: NounPhrase) -> Leaf:
    owner, anchor = phrase.owner, (phrase, "determiner")
    if owner.plural:
        return Leaf("DET", _OWNED_BY_MANY[owner.person][phrase.plural], anchor)
    ending = "es" if phrase.plural else "on" if phrase.gender == "m" else "a"
    return Leaf("DET", _OWNED[owner.person] + ending, anchor)


def _nucleus(clause: Clause, infinitive: str) -> Tree:
    """Returns the verb with its negation and the pronoun that is its object: *ne l'a pas vue*."""
    verb, tail = clause.predicate, []
    clitics = [_clitic(clause.object)] if isinstance(clause.object, Pronoun) else []
    if clause.modal:
        leaves = [_finite(clause, clause.modal.fr, "modal")]
        tail = [*clitics, Leaf("VERB", infinitive, (clause, "verb"))]
    elif clause.tense == "past" and not clause.stative and not isinstance(verb, Adjective):
        leaves = [*clitics, _finite(clause, "être" if verb.etre else "avoir", tense="present")]
        controller = clause.agreeing if verb.etre else _preceding_object(clause)
        participle = conjugation(infinitive).participle
        agreeing = participle_form(participle, controller.gender, controller.plural) if controller else participle
        tail = [Leaf("VERB", agreeing, (clause, "verb"))]
    else:
        leaves = [*clitics, _finite(clause, infinitive, "verb")]
    if clause.negated:
        anchor = (clause, "negation")
        leaves = [Leaf("PART", "ne", anchor), *leaves, Leaf("PART", "pas", anchor)]
    return Tree("VN", [*leaves, *tail])


def _finite(clause: Clause, infinitive: str, role: str = "", *, tense: str = "") -> Leaf:
    """Returns the form that agrees with the subject; ``role`` is what it tells besides the tense."""
    tense = tense or {"past": "imperfect"}.get(clause.tense, clause.tense)
    token = conjugation(infinitive).form(tense, clause.agreeing.person, clause.agreeing.plural)
    label = "VERB" if role == "verb" and infinitive != "être" else "AUX"
    anchors: list[Anchor] = [(clause, role)] if role else []
    return Leaf(label, token, *anchors, (clause, "tense"))


def _preceding_object(clause: Clause) -> Nominal | None:
    """Returns the direct object that precedes the verb, with which a participle after *avoir* agrees."""
    if clause.gap == "object":
        return clause.antecedent
    return clause.object if isinstance(clause.object, Pronoun) else None


def _clitic(pronoun: Pronoun) -> Leaf:
    """Returns the pronoun that precedes the verb as its object."""
    third = "les" if pronoun.plural else "le" if pronoun.gender == "m" else "la"
    return Leaf("PRON", _CLITIC.get((pronoun.person, pronoun.plural), third), (pronoun, "head"))
