"""French: elision, contraction and agreement; noun phrases, clauses and sentences."""

from __future__ import annotations

from typing import ClassVar

from .lexicon import conjugations
from .meaning import (
    Action,
    Adjective,
    Clause,
    Compound,
    Coordination,
    Existence,
    Nominal,
    NounPhrase,
    PlaceName,
    Pronoun,
    Quality,
)
from .realizer import Anchor, Leaf, Node, Realizer, Tree

_VOWELS = frozenset("aàâæeéèêëiîïoôœuùûyhAÀÂÆEÉÈÊËIÎÏOÔŒUÙÛYH")
_ASPIRATED = ("héros", "hibou", "hérisson", "haricot", "haïku", "hangar", "huit", "onze")


def begins_with_vowel(token: str) -> bool:
    """Whether words elide before the token; an aspirated h, *huit* and *onze* forbid it."""
    return token[0] in _VOWELS and not token.startswith(_ASPIRATED)


def contract(node: Node, preposition: str, anchor: Anchor) -> bool:
    """Fuses *de* or *à* with the definite article that begins the phrase, *du*, *aux*; returns whether one does."""
    leaves = node.leaves()
    article, following = next(leaves), next(leaves, None)
    if article.label != "DET" or article.token not in ("le", "les") or following is None:
        return False
    if article.token == "le" and begins_with_vowel(following.token):
        return False
    plural = article.token == "les"
    article.token = {"de": "des" if plural else "du", "à": "aux" if plural else "au"}[preposition]
    article.label, article.anchors = "ADP", (*article.anchors, anchor)
    return True


def participle_form(participle: str, gender: str, plural: bool) -> str:
    """Returns a past participle that agrees with gender and number."""
    stem = "du" if participle == "dû" and (gender == "f" or plural) else participle
    stem += "e" if gender == "f" else ""
    return stem if not plural or stem.endswith("s") else stem + "s"


_NUMERALS = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit "
    "dix-neuf vingt"
)
_SUBJECT = {(1, False): "je", (2, False): "tu", (1, True): "nous", (2, True): "vous"}
_STRONG = {(1, False): "moi", (2, False): "toi", (1, True): "nous", (2, True): "vous"}
_CLITIC = {(1, False): "me", (2, False): "te", (1, True): "nous", (2, True): "vous"}
_OWNED = {1: "m", 2: "t", 3: "s"}
_OWNED_BY_MANY = {1: ("notre", "nos"), 2: ("votre", "vos"), 3: ("leur", "leurs")}
_PAST = {"future": "future", "past": "imperfect", "past_progressive": "imperfect"}


class French(Realizer):
    """Realizes meanings as French trees."""

    language = "fr"
    and_word = "et"
    with_word = "avec"
    in_word = ("à", "en")
    decimal_mark = ","
    connectives: ClassVar = {
        "and": "et",
        "but": "mais",
        "so": "donc",
        "because": "parce que",
        "when": "quand",
        "if": "si",
        "while": "pendant que",
    }
    there_word = "il"
    that_word = "que"
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
        return following in ("il", "ils") if token == "si" else begins_with_vowel(following)

    def relative_pronoun(self, clause: Clause) -> str:
        """Returns the relative pronoun: *qui*, *que*, or *dont*."""
        return {"subject": "qui", "object": "que", "oblique": "dont"}[clause.gap]

    def predicate(self, clause: Clause) -> list[Node]:
        """Returns a predicate; French inverts nothing, and uses the future tense after *quand*."""
        predicate = clause.predicate
        if isinstance(predicate, Quality):
            children = self._quality(clause, predicate)
        elif isinstance(predicate, Existence):
            nucleus = _nucleus(clause, "avoir", [Leaf("PRON", "y", (clause, "there"))])
            theme = self.nominal(predicate.theme, "negated" if clause.negated else "")
            children = [nucleus, theme, self.location(predicate.location)]
        else:
            children = self._action(clause, predicate)
        return [Tree("VP", [*children, *self.circumstances(clause)])]

    def _quality(self, clause: Clause, quality: Quality) -> list[Node]:
        subject, use = clause.agreeing, quality.modifier
        phrase = self.adjective_phrase(use, *agree(use.adjective, subject))
        if quality.standard:
            irregular, more = use.adjective.comparative, (quality, "more")
            if irregular:
                form = irregular + ("e" if subject.gender == "f" and not irregular.endswith("e") else "")
                form += "s" if subject.plural else ""
                phrase.children = [Leaf("ADJ", form, (use, "head"), more)]
            else:
                phrase.children.insert(0, Leaf("ADV", "plus", more))
            than = Leaf("SCONJ", "que", (quality, "than"))
            phrase.children.append(Tree("PP", [than, self.nominal(quality.standard)]))
        return [_nucleus(clause, "être", []), phrase]

    def _action(self, clause: Clause, action: Action) -> list[Node]:
        verb, preposition = action.verb, action.verb.fr_preposition
        children: list[Node] = [_nucleus(clause, verb.fr, _clitics(action))]
        if clause.manner:
            children.append(Tree("AdvP", [Leaf("ADV", clause.manner.fr, (clause, "manner"))]))
        if action.object and not _is_clitic_object(action):
            if preposition:
                children.append(self.prepositional(preposition, action.object, (action, "preposition")))
            else:
                children.append(self.nominal(action.object, "negated" if clause.negated else ""))
        if action.recipient and not isinstance(action.recipient, Pronoun):
            children.append(self.prepositional("à", action.recipient, (action, "to")))
        if action.agent:
            children.append(self.prepositional("par", action.agent, (action, "by")))
        return [*children, *self.complement(action)]

    def pronoun(self, nominal: Nominal, context: str) -> Leaf:
        """Returns the pronoun of a subject, or the one used after a preposition: *moi*, *lui*, *elle*."""
        if context == "subject":
            forms, masculine = _SUBJECT, ("il", "ils")
        else:
            forms, masculine = _STRONG, ("lui", "eux")
        third = masculine if nominal.gender == "m" else ("elle", "elles")
        token = forms.get((nominal.person, nominal.plural)) or third[nominal.plural]
        return Leaf("PRON", token, (nominal, "head"))

    def place_name(self, place: PlaceName) -> Tree:
        phrase = super().place_name(place)
        if place.name.kind == "country":
            phrase.children.insert(0, Leaf("DET", "la"))
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
            leaves.append(Leaf("ADP", last, anchor))
        return Tree("PP", [*leaves, phrase])

    def noun_phrase(self, phrase: NounPhrase, context: str) -> Tree:
        """Returns a noun with its dependents; under negation *un*, *des* and *du* become *de*."""
        use, noun = phrase.adjective, phrase.noun
        children: list[Node] = [Leaf("NOUN", noun.fr_plural if phrase.plural else noun.fr, (phrase, "head"))]
        before = use is not None and use.adjective.before
        if use:
            children.insert(0 if before else 1, self.adjective_phrase(use, *agree(use.adjective, phrase)))
        determiner = self._determiner(phrase, context, adjective_follows=before)
        return Tree("NP", [*determiner, *children, *self.noun_dependents(phrase, "de")])

    def _determiner(self, phrase: NounPhrase, context: str, *, adjective_follows: bool) -> list[Leaf]:
        """Returns the words before the noun and its adjectives."""
        kind, feminine, plural = phrase.determiner, phrase.gender == "f", phrase.plural
        anchor = (phrase, "determiner")
        if kind == "partitive" or (kind == "indefinite" and (plural or context == "negated")):
            return _indefinite(phrase, context, adjective_follows)
        if kind == "possessive":
            return [_possessive(phrase)]
        if kind == "many":
            return [Leaf("DET", "beaucoup", anchor), Leaf("ADP", "de", anchor)]
        if kind in ("numeral", "amount"):
            number = _NUMERALS.split()[phrase.number] if kind == "numeral" else self.amount(phrase.number)
            return [Leaf("NUM", number, anchor)]
        words = {
            "definite": "les" if plural else "la" if feminine else "le",
            "demonstrative": "ces" if plural else "cette" if feminine else "ce",
            "indefinite": "une" if feminine else "un",
            "each": "chaque",
            "several": "plusieurs",
            "few": "quelques",
        }
        return [Leaf("DET", words[kind], anchor)]


def _is_clitic_object(action: Action) -> bool:
    """Whether the object is a pronoun that precedes the verb."""
    governed = bool(action.verb.fr_preposition) and action.verb.frame != "dative"
    return isinstance(action.object, Pronoun) and not governed


def _clitics(action: Action) -> list[Leaf]:
    """Returns the clitics in their order: *me le*, *le lui*."""
    clitics = []
    if isinstance(action.object, Pronoun) and _is_clitic_object(action):
        clitics.append(clitic(action.object, dative=action.verb.frame == "dative"))
    if isinstance(action.recipient, Pronoun):
        recipient = clitic(action.recipient, dative=True)
        clitics.insert(0 if action.recipient.person < 3 else len(clitics), recipient)
    return clitics


def _nucleus(clause: Clause, infinitive: str, clitics: list[Leaf]) -> Tree:
    """Returns the verb with its clitics, negation and adverb of frequency: *ne l'a pas souvent vue*."""
    action = clause.action
    verb = Leaf("VERB", infinitive, (clause, "verb"))
    tail: list[Leaf] = []
    if clause.modal:
        leaves, tail = [_finite(clause, clause.modal.fr, "modal")], [*clitics, verb]
    elif clause.tense == "progressive":
        words = (("ADP", "en"), ("NOUN", "train"), ("ADP", "de"))
        during = [Leaf(label, word, (clause, "tense")) for label, word in words]
        leaves, tail = [_finite(clause, "être")], [*during, *clitics, verb]
    elif action and action.passive and clause.tense == "past":
        been = Leaf("AUX", "été", (clause, "passive"))
        leaves = [_finite(clause, "avoir", tense="present")]
        tail = [been, _participle(clause, infinitive, clause.agreeing)]
    elif action and action.passive:
        leaves, tail = [_finite(clause, "être", "passive")], [_participle(clause, infinitive, clause.agreeing)]
    elif action and clause.tense == "past" and not clause.stative:
        leaves = [*clitics, _finite(clause, "être" if action.verb.etre else "avoir", tense="present")]
        controller = clause.agreeing if action.verb.etre else _preceding_object(clause, action)
        tail = [_participle(clause, infinitive, controller)]
    else:
        leaves = [*clitics, _finite(clause, infinitive, "verb")]
    if clause.negated:
        anchor = (clause, "negation")
        leaves = [Leaf("PART", "ne", anchor), *leaves, Leaf("PART", "pas", anchor)]
    if clause.frequency:
        leaves.append(Leaf("ADV", clause.frequency.fr, (clause, "frequency")))
    return Tree("VN", [*leaves, *tail])


def _finite(clause: Clause, infinitive: str, role: str = "", *, tense: str = "") -> Leaf:
    """Returns the form that agrees with the subject; ``role`` is what it tells besides the tense."""
    person, plural = 3, False
    if not isinstance(clause.predicate, Existence):
        person, plural = clause.agreeing.person, clause.agreeing.plural
    token = conjugations()[infinitive].form(tense or _PAST.get(clause.tense, "present"), person, plural)
    label = "VERB" if role == "verb" and infinitive != "être" else "AUX"
    anchors: list[Anchor] = [(clause, role)] if role else []
    return Leaf(label, token, *anchors, (clause, "tense"))


def _participle(clause: Clause, infinitive: str, controller: Nominal | None) -> Leaf:
    """Returns the past participle, which agrees with the controller if there is one."""
    token = conjugations()[infinitive].participle
    if controller:
        token = participle_form(token, controller.gender, controller.plural)
    return Leaf("VERB", token, (clause, "verb"))


def _preceding_object(clause: Clause, action: Action) -> Nominal | None:
    """Returns the direct object that precedes the verb, with which a participle after *avoir* agrees."""
    if clause.gap == "object" and action.verb.frame != "dative":
        return clause.antecedent
    return action.object if isinstance(action.object, Pronoun) and not action.verb.fr_preposition else None


def clitic(pronoun: Pronoun, dative: bool) -> Leaf:
    """Returns the pronoun that precedes the verb as its direct object or, dative, as its recipient."""
    if dative:
        third = "leur" if pronoun.plural else "lui"
    else:
        third = "les" if pronoun.plural else "le" if pronoun.gender == "m" else "la"
    token = _CLITIC.get((pronoun.person, pronoun.plural), third)
    return Leaf("PRON", token, (pronoun, "head"))


def agree(adjective: Adjective, noun: Nominal) -> tuple[str, str | None]:
    """Returns the form of an adjective that agrees with a nominal, and its form before vowels."""
    if noun.gender == "f":
        return adjective.feminine + ("s" if noun.plural else ""), None
    return (adjective.plural, None) if noun.plural else (adjective.fr, adjective.liaison)


def _indefinite(phrase: NounPhrase, context: str, adjective_follows: bool) -> list[Leaf]:
    """Returns *des* or the partitive, or the *de* that replaces them, and *un*, under negation."""
    anchor = (phrase, "determiner")
    if context == "after de":
        return []
    if context == "negated" or (phrase.plural and adjective_follows):
        return [Leaf("DET", "de", anchor)]
    if phrase.plural or phrase.gender == "m":
        return [Leaf("DET", "des" if phrase.plural else "du", anchor)]
    return [Leaf("ADP", "de", anchor), Leaf("DET", "la", anchor)]


def _possessive(phrase: NounPhrase) -> Leaf:
    owner, anchor = phrase.owner, (phrase, "determiner")
    assert owner
    if owner.plural:
        return Leaf("DET", _OWNED_BY_MANY[owner.person][phrase.plural], anchor)
    stem = _OWNED[owner.person]
    if phrase.plural or phrase.gender == "m":
        return Leaf("DET", stem + ("es" if phrase.plural else "on"), anchor)
    return Leaf("DET", stem + "a", anchor)
