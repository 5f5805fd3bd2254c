"""French clauses and sentences."""

from __future__ import annotations

from ..meaning import Action, Clause, Compound, Existence, Nominal, Pronoun, Quality, Sentence
from ..tree import Leaf, Node, Tree
from .liaison import apply_liaison
from .morphology import conjugation, participle_form
from .nominals import FrenchNominals, adjective_phrase, clitic, subject_pronoun

_CONNECTIVES = {
    "and": "et",
    "but": "mais",
    "so": "donc",
    "because": "parce que",
    "when": "quand",
    "if": "si",
    "while": "pendant que",
}


class French:
    """Realizes meanings as French trees."""

    def __init__(self) -> None:
        self._nominals = FrenchNominals(self._relative)

    def sentence(self, sentence: Sentence) -> Tree:
        """Returns the tree of a sentence, its words in their final form."""
        body = self._body(sentence.body)
        children: list[Node] = [body, Leaf("PUNCT", "?" if sentence.question else ".", ((sentence, "end"),))]
        if sentence.question:
            anchors = ((sentence, "question"),)
            children = [Leaf("ADV", "est-ce", anchors), Leaf("SCONJ", "que", anchors, "qu'"), *children]
        tree = Tree("ROOT", children)
        apply_liaison(tree)
        return tree

    def _body(self, body: Clause | Compound) -> Tree:
        if isinstance(body, Clause):
            return self.clause(body)
        anchors = ((body, "connective"),)
        words = _CONNECTIVES[body.connective].split()
        first, second = self._body(body.first), self._body(body.second)
        if body.connective in ("and", "but", "so"):
            comma = [Leaf("PUNCT", ",", ((body, "comma"),))] if body.connective != "and" else []
            return Tree("S", [first, *comma, Leaf("CCONJ", words[0], anchors), second])
        links = [Leaf("SCONJ", word, anchors, {"que": "qu'", "si": "s'"}.get(word)) for word in words]
        subordinate = Tree("SBAR", [*links, second])
        if body.fronted:
            return Tree("S", [subordinate, Leaf("PUNCT", ",", ((body, "comma"),)), first])
        return Tree("S", [first, subordinate])

    def clause(self, clause: Clause) -> Tree:
        """Returns the tree of a clause; of a relative clause, what follows its pronoun."""
        children: list[Node] = []
        if clause.time and clause.time_first:
            children += [_time(clause), Leaf("PUNCT", ",", ((clause, "comma"),))]
        if isinstance(clause.subject, Pronoun):
            children.append(Tree("NP", [subject_pronoun(clause.subject)]))
        elif clause.subject is not None and clause.gap != "subject":
            children.append(self._nominals.nominal(clause.subject))
        if isinstance(clause.predicate, Existence):
            children.append(Tree("NP", [Leaf("PRON", "il", ((clause, "there"),))]))
        children.append(self._verb_phrase(clause))
        if clause.time and not clause.time_first:
            children.append(_time(clause))
        return Tree("S", children)

    def _relative(self, clause: Clause) -> Tree:
        word = {"subject": "qui", "object": "que", "oblique": "dont"}[clause.gap]
        pronoun = Leaf("PRON", word, ((clause, "relative"),), "qu'" if word == "que" else None)
        return Tree("SBAR", [pronoun, self.clause(clause)])

    def _verb_phrase(self, clause: Clause) -> Tree:
        predicate = clause.predicate
        if isinstance(predicate, Quality):
            children = self._quality(clause, predicate)
        elif isinstance(predicate, Existence):
            nucleus = _nucleus(clause, "avoir", [Leaf("PRON", "y", ((clause, "there"),))])
            theme = self._nominals.nominal(predicate.theme, "negated" if clause.negated else "")
            children = [nucleus, theme, self._nominals.location(predicate.location)]
        else:
            children = self._action(clause, predicate)
        if clause.location:
            children.append(self._nominals.location(clause.location))
        if clause.companion:
            children.append(self._nominals.prepositional("avec", clause.companion, ((clause, "with"),)))
        return Tree("VP", children)

    def _quality(self, clause: Clause, quality: Quality) -> list[Node]:
        subject, use = clause.agreeing, quality.modifier
        children: list[Node] = [_nucleus(clause, "être", [])]
        phrase = adjective_phrase(use, subject.gender, subject.plural)
        if quality.standard:
            if use.adjective.comparative:
                irregular = use.adjective.comparative
                form = irregular + ("e" if subject.gender == "f" and not irregular.endswith("e") else "")
                phrase.children = [Leaf("ADJ", form + "s" * subject.plural, ((use, "head"), (quality, "more")))]
            else:
                phrase.children.insert(0, Leaf("ADV", "plus", ((quality, "more"),)))
            than = Leaf("SCONJ", "que", ((quality, "than"),), "qu'")
            phrase.children.append(Tree("PP", [than, self._nominals.nominal(quality.standard)]))
        return [*children, phrase]

    def _action(self, clause: Clause, action: Action) -> list[Node]:
        verb = action.verb
        clitics = _clitics(action)
        children: list[Node] = [_nucleus(clause, verb.fr, clitics)]
        if clause.manner:
            children.append(Tree("AdvP", [Leaf("ADV", clause.manner.fr, ((clause, "manner"),))]))
        oblique = bool(verb.fr_preposition)
        if action.object and not (isinstance(action.object, Pronoun) and (not oblique or verb.frame == "dative")):
            children.append(self._object(clause, action, action.object))
        if action.recipient and not isinstance(action.recipient, Pronoun):
            children.append(self._nominals.prepositional("à", action.recipient, ((action, "to"),)))
        if action.agent:
            children.append(self._nominals.prepositional("par", action.agent, ((action, "by"),)))
        if action.complement:
            that = Leaf("SCONJ", "que", ((action, "that"),), "qu'")
            children.append(Tree("SBAR", [that, self.clause(action.complement)]))
        return children

    def _object(self, clause: Clause, action: Action, nominal: Nominal) -> Node:
        if action.verb.fr_preposition:
            return self._nominals.prepositional(action.verb.fr_preposition, nominal, ((action, "preposition"),))
        return self._nominals.nominal(nominal, "negated" if clause.negated else "")


def _clitics(action: Action) -> list[Leaf]:
    """Returns the clitics in their order: *me le*, *le lui*."""
    verb = action.verb
    clitics = []
    if isinstance(action.object, Pronoun) and (not verb.fr_preposition or verb.frame == "dative"):
        clitics.append(clitic(action.object, dative=verb.frame == "dative"))
    if isinstance(action.recipient, Pronoun):
        recipient = clitic(action.recipient, dative=True)
        clitics.insert(0 if action.recipient.person < 3 else len(clitics), recipient)
    return clitics


def _nucleus(clause: Clause, infinitive: str, clitics: list[Leaf]) -> Tree:
    """Returns the verb with its clitics, negation and adverb of frequency: *ne l'a pas souvent vue*."""
    action = clause.predicate if isinstance(clause.predicate, Action) else None
    if clause.modal:
        leaves, tail = (
            [_finite(clause, clause.modal.fr, "modal")],
            [*clitics, _infinitive(clause, infinitive)],
        )
    elif clause.tense == "progressive":
        leaves = [_finite(clause, "être")]
        words = (("ADP", "en", None), ("NOUN", "train", None), ("ADP", "de", "d'"))
        tail = [Leaf(label, word, ((clause, "tense"),), liaison) for label, word, liaison in words]
        tail += [*clitics, _infinitive(clause, infinitive)]
    elif action and action.passive:
        leaves, tail = _passive(clause, action)
    elif action and clause.tense == "past" and not clause.stative:
        leaves = [*clitics, _finite(clause, "être" if action.verb.etre else "avoir", tense="present")]
        controller = clause.agreeing if action.verb.etre else _preceding_object(clause, action)
        tail = [_participle(clause, infinitive, controller)]
    else:
        leaves, tail = [*clitics, _finite(clause, infinitive, "verb")], []
    if clause.negated:
        anchors = ((clause, "negation"),)
        leaves = [Leaf("PART", "ne", anchors, "n'"), *leaves, Leaf("PART", "pas", anchors)]
    if clause.frequency:
        leaves.append(Leaf("ADV", clause.frequency.fr, ((clause, "frequency"),)))
    return Tree("VN", [*leaves, *tail])


def _finite(clause: Clause, infinitive: str, role: str = "", *, tense: str = "") -> Leaf:
    """Returns the form that agrees with the subject; ``role`` is what it tells besides the tense."""
    if isinstance(clause.predicate, Existence):
        person, plural = 3, False
    else:
        person, plural = clause.agreeing.person, clause.agreeing.plural
    tense = tense or {"future": "future", "past": "imperfect", "past_progressive": "imperfect"}.get(
        clause.tense, "present"
    )
    label = "VERB" if role == "verb" and infinitive != "être" else "AUX"
    anchors = ((clause, role), (clause, "tense")) if role else ((clause, "tense"),)
    return Leaf(label, conjugation(infinitive).form(tense, person, plural), anchors)


def _infinitive(clause: Clause, infinitive: str) -> Leaf:
    return Leaf("VERB", infinitive, ((clause, "verb"),))


def _participle(clause: Clause, infinitive: str, controller: Nominal | None) -> Leaf:
    """Returns the past participle, which agrees with the controller if there is one."""
    token = conjugation(infinitive).participle
    if controller:
        token = participle_form(token, controller.gender, controller.plural)
    return Leaf("VERB", token, ((clause, "verb"),))


def _passive(clause: Clause, action: Action) -> tuple[list[Leaf], list[Leaf]]:
    """Returns what comes before and after *pas* in a passive: *a été* or *sera*, and the participle."""
    participle = _participle(clause, action.verb.fr, clause.agreeing)
    if clause.tense == "past":
        been = Leaf("AUX", "été", ((clause, "passive"),))
        return [_finite(clause, "avoir", tense="present")], [been, participle]
    return [_finite(clause, "être", "passive")], [participle]


def _preceding_object(clause: Clause, action: Action) -> Nominal | None:
    """Returns the direct object that precedes the verb, with which a participle after *avoir* agrees."""
    if clause.gap == "object" and action.verb.frame != "dative":
        return clause.antecedent
    if isinstance(action.object, Pronoun) and not action.verb.fr_preposition:
        return action.object
    return None


def _time(clause: Clause) -> Tree:
    if isinstance(clause.time, int):
        anchors = ((clause, "year"),)
        return Tree("PP", [Leaf("ADP", "en", ((clause, "in"),)), Leaf("NUM", str(clause.time), anchors)])
    words = clause.time.fr if clause.time else ()
    return Tree(
        "NP",
        [Leaf(label, word, tuple((clause, "time" + key) for key in keys)) for word, label, keys in words],
    )
