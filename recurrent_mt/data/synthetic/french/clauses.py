"""French clauses and sentences."""

from __future__ import annotations

from typing import ClassVar

from ..meaning import Action, Clause, Existence, Nominal, Pronoun, Quality, Sentence
from ..tree import Leaf, Node, Tree
from .liaison import begins_with_vowel
from .morphology import conjugation, participle_form
from .nominals import FrenchNominals, agree, clitic

_PAST = {"future": "future", "past": "imperfect", "past_progressive": "imperfect"}


class French(FrenchNominals):
    """Realizes meanings as French trees."""

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
    elided: ClassVar = {"que": "qu'", "si": "s'"}

    def open_question(self, sentence: Sentence) -> list[Leaf]:
        """*Est-ce que*."""
        anchor = (sentence, "question")
        return [Leaf("ADV", "est-ce", anchor), Leaf("SCONJ", "que", anchor, liaison="qu'")]

    def elides(self, token: str, following: str) -> bool:
        """Whether a vowel follows; *si* elides before *il* and *ils* alone."""
        return following in ("il", "ils") if token == "si" else begins_with_vowel(following)

    def relative_pronoun(self, clause: Clause) -> str:
        """*Qui*, *que* or *dont*."""
        return {"subject": "qui", "object": "que", "oblique": "dont"}[clause.gap]

    def predicate(self, clause: Clause, question: Sentence | None, as_present: bool) -> list[Node]:
        """See :meth:`.Realizer.predicate`; French inverts nothing, and tells the future after *quand* as such."""
        predicate = clause.predicate
        if isinstance(predicate, Quality):
            children = self._quality(clause, predicate)
        elif isinstance(predicate, Existence):
            nucleus = _nucleus(clause, "avoir", [Leaf("PRON", "y", (clause, "there"))])
            theme = self.nominal(predicate.theme, "negated" if clause.negated else "")
            children = [nucleus, theme, self.location(predicate.location)]
        else:
            children = self._action(clause, predicate)
        if clause.location:
            children.append(self.location(clause.location))
        if clause.companion:
            children.append(self.prepositional("avec", clause.companion, (clause, "with")))
        return [Tree("VP", children)]

    def _quality(self, clause: Clause, quality: Quality) -> list[Node]:
        subject, use = clause.agreeing, quality.modifier
        phrase = self.adjective_phrase(use, *agree(use.adjective, subject))
        if quality.standard:
            irregular, more = use.adjective.comparative, (quality, "more")
            if irregular:
                form = irregular + ("e" if subject.gender == "f" and not irregular.endswith("e") else "")
                phrase.children = [Leaf("ADJ", form + "s" * subject.plural, (use, "head"), more)]
            else:
                phrase.children.insert(0, Leaf("ADV", "plus", more))
            than = Leaf("SCONJ", "que", (quality, "than"), liaison="qu'")
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
    action = clause.predicate if isinstance(clause.predicate, Action) else None
    verb = Leaf("VERB", infinitive, (clause, "verb"))
    tail: list[Leaf] = []
    if clause.modal:
        leaves, tail = [_finite(clause, clause.modal.fr, "modal")], [*clitics, verb]
    elif clause.tense == "progressive":
        words = (("ADP", "en", None), ("NOUN", "train", None), ("ADP", "de", "d'"))
        during = [Leaf(label, word, (clause, "tense"), liaison=liaison) for label, word, liaison in words]
        leaves, tail = [_finite(clause, "être")], [*during, *clitics, verb]
    elif action and action.passive:
        leaves, tail = _passive(clause, action)
    elif action and clause.tense == "past" and not clause.stative:
        leaves = [*clitics, _finite(clause, "être" if action.verb.etre else "avoir", tense="present")]
        controller = clause.agreeing if action.verb.etre else _preceding_object(clause, action)
        tail = [_participle(clause, infinitive, controller)]
    else:
        leaves = [*clitics, _finite(clause, infinitive, "verb")]
    if clause.negated:
        anchor = (clause, "negation")
        leaves = [Leaf("PART", "ne", anchor, liaison="n'"), *leaves, Leaf("PART", "pas", anchor)]
    if clause.frequency:
        leaves.append(Leaf("ADV", clause.frequency.fr, (clause, "frequency")))
    return Tree("VN", [*leaves, *tail])


def _finite(clause: Clause, infinitive: str, role: str = "", *, tense: str = "") -> Leaf:
    """Returns the form that agrees with the subject; ``role`` is what it tells besides the tense."""
    person, plural = 3, False
    if not isinstance(clause.predicate, Existence):
        person, plural = clause.agreeing.person, clause.agreeing.plural
    token = conjugation(infinitive).form(tense or _PAST.get(clause.tense, "present"), person, plural)
    label = "VERB" if role == "verb" and infinitive != "être" else "AUX"
    return Leaf(label, token, *([(clause, role)] if role else []), (clause, "tense"))


def _participle(clause: Clause, infinitive: str, controller: Nominal | None) -> Leaf:
    """Returns the past participle, which agrees with the controller if there is one."""
    token = conjugation(infinitive).participle
    if controller:
        token = participle_form(token, controller.gender, controller.plural)
    return Leaf("VERB", token, (clause, "verb"))


def _passive(clause: Clause, action: Action) -> tuple[list[Leaf], list[Leaf]]:
    """Returns what comes before and after *pas* in a passive: *a été* or *sera*, and the participle."""
    participle = _participle(clause, action.verb.fr, clause.agreeing)
    if clause.tense == "past":
        been = Leaf("AUX", "été", (clause, "passive"))
        return [_finite(clause, "avoir", tense="present")], [been, participle]
    return [_finite(clause, "être", "passive")], [participle]


def _preceding_object(clause: Clause, action: Action) -> Nominal | None:
    """Returns the direct object that precedes the verb, with which a participle after *avoir* agrees."""
    if clause.gap == "object" and action.verb.frame != "dative":
        return clause.antecedent
    return action.object if isinstance(action.object, Pronoun) and not action.verb.fr_preposition else None
