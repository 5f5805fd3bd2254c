"""English clauses and sentences."""

from __future__ import annotations

import itertools

from ..meaning import Action, Clause, Compound, Existence, Pronoun, Quality, Sentence
from ..tree import Leaf, Node, Tree
from .morphology import be_form, comparative, gerund, third_person
from .nominals import EnglishNominals, adjective_phrase, begins_with_vowel

_MODALS = {  # (tense, modal) → words before the infinitive; want and have to are conjugated as verbs
    ("present", "can"): ["can"],
    ("past", "can"): ["could"],
    ("future", "can"): ["will", "be", "able", "to"],
    ("present", "must"): ["must"],
    ("past", "must"): ["had", "to"],
    ("future", "must"): ["will", "have", "to"],
    ("future", "want"): ["will", "want", "to"],
}
_SEPARABLE = ("on",)  # turn it on, but look for it


class English:
    """Realizes meanings as English trees."""

    def __init__(self) -> None:
        self._nominals = EnglishNominals(self._relative)

    def sentence(self, sentence: Sentence) -> Tree:
        """Returns the tree of a sentence, its words in their final form."""
        body = self._body(sentence.body, sentence if sentence.question else None)
        tree = Tree("ROOT", [body, Leaf("PUNCT", "?" if sentence.question else ".", ((sentence, "end"),))])
        leaves = list(tree.leaves())
        for leaf, following in itertools.pairwise(leaves):
            if leaf.liaison and begins_with_vowel(following.token):
                leaf.token = leaf.liaison
        return tree

    def _body(self, body: Clause | Compound, question: Sentence | None = None, future_as_present: bool = False) -> Tree:
        if isinstance(body, Clause):
            return self.clause(body, question=question, future_as_present=future_as_present)
        word = Leaf("CCONJ", body.connective, ((body, "connective"),))
        comma = Leaf("PUNCT", ",", ((body, "comma"),))
        if body.connective in ("and", "but", "so"):
            commas = [comma] if body.connective != "and" else []
            first = self._body(body.first, future_as_present=future_as_present)
            second = self._body(body.second, future_as_present=future_as_present)
            return Tree("S", [first, *commas, word, second])
        word.label = "SCONJ"
        second = self._body(body.second, future_as_present=future_as_present or body.connective == "when")
        subordinate = Tree("SBAR", [word, second])
        first = self._body(body.first, future_as_present=future_as_present)
        return Tree("S", [subordinate, comma, first] if body.fronted else [first, subordinate])

    def clause(self, clause: Clause, *, question: Sentence | None = None, future_as_present: bool = False) -> Tree:
        """Returns the tree of a clause; of a relative clause, what follows its pronoun.

        Args:
            clause: what it says.
            question: the sentence if it is a question, whose auxiliary then comes first.
            future_as_present: whether the future is told in the present, as after *when*.
        """
        tense = "present" if future_as_present and clause.tense == "future" else clause.tense
        auxiliaries, rest = _verb_group(clause, tense, question)
        children: list[Node] = []
        if clause.time and clause.time_first:
            children += [_time(clause), Leaf("PUNCT", ",", ((clause, "comma"),))]
        if question:
            children.append(auxiliaries.pop(0))
        if isinstance(clause.predicate, Existence):
            children.append(Tree("NP", [Leaf("PRON", "there", ((clause, "there"),))]))
        elif clause.subject is not None and clause.gap != "subject":
            children.append(self._nominals.nominal(clause.subject, subject=True))
        children.append(Tree("VP", [*auxiliaries, *rest, *self._dependents(clause)]))
        if clause.time and not clause.time_first:
            children.append(_time(clause))
        return Tree("S", children)

    def _relative(self, clause: Clause) -> Tree:
        human = clause.antecedent is not None and clause.antecedent.human
        word = "who" if human and clause.gap == "subject" else "that"
        return Tree("SBAR", [Leaf("PRON", word, ((clause, "relative"),)), self.clause(clause)])

    def _dependents(self, clause: Clause) -> list[Node]:
        """Returns what follows the verb."""
        predicate = clause.predicate
        if isinstance(predicate, Quality):
            children: list[Node] = [self._quality(predicate)]
        elif isinstance(predicate, Existence):
            theme = self._nominals.nominal(predicate.theme, negated=clause.negated)
            children = [theme, self._nominals.location(predicate.location)]
        else:
            children = self._governed(clause, predicate)
        if clause.manner:
            children.append(Tree("AdvP", [Leaf("ADV", clause.manner.en, ((clause, "manner"),))]))
        if clause.location:
            children.append(self._nominals.location(clause.location))
        if clause.companion:
            children.append(self._nominals.prepositional("with", clause.companion, ((clause, "with"),)))
        if isinstance(predicate, Action) and predicate.complement:
            that = Leaf("SCONJ", "that", ((predicate, "that"),))
            children.append(Tree("SBAR", [that, self.clause(predicate.complement)]))
        return children

    def _quality(self, quality: Quality) -> Tree:
        phrase = adjective_phrase(quality.modifier)
        if quality.standard:
            adjective = quality.modifier.adjective
            words = comparative(adjective.en, adjective.en_comparative)
            head, more = (quality.modifier, "head"), (quality, "more")
            if len(words) == 1:
                phrase.children = [Leaf("ADJ", words[0], (head, more))]
            else:
                phrase.children = [Leaf("ADV", words[0], (more,)), Leaf("ADJ", words[1], (head,))]
            than = Leaf("SCONJ", "than", ((quality, "than"),))
            phrase.children.append(Tree("PP", [than, self._nominals.nominal(quality.standard)]))
        return phrase

    def _governed(self, clause: Clause, action: Action) -> list[Node]:
        verb = action.verb
        children: list[Node] = []
        particle = [Leaf("ADP", verb.en_particle, ((clause, "verb"),))] if verb.en_particle else []
        separated = verb.en_particle in _SEPARABLE and isinstance(action.object, Pronoun)
        children += [] if separated else particle
        negated = clause.negated and not verb.en_preposition
        if action.object:
            anchors = ((action, "preposition"),)
            children.append(
                self._nominals.prepositional(verb.en_preposition, action.object, anchors)
                if verb.en_preposition
                else self._nominals.nominal(action.object, negated=negated)
            )
            children += particle if separated else []
        elif clause.gap == "oblique" and verb.en_preposition:
            children.append(Leaf("ADP", verb.en_preposition, ((clause, "relative"),)))
        if action.recipient:
            children.append(self._nominals.prepositional("to", action.recipient, ((action, "to"),)))
        if action.agent:
            children.append(self._nominals.prepositional("by", action.agent, ((action, "by"),)))
        return children


def _verb_group(clause: Clause, tense: str, question: Sentence | None) -> tuple[list[Leaf], list[Leaf]]:
    """Returns the auxiliaries with *not*, and then the adverb of frequency and the main verb.

    The first auxiliary can be put before the subject: where a question or *not* needs one, *do* is supplied.
    """
    auxiliaries, main = _affirmative(clause, tense)
    if not auxiliaries and (clause.negated or question):
        auxiliaries, main = _with_do(clause, tense)
    if question:
        auxiliaries[0].anchors += ((question, "question"),)
    if clause.negated:
        if auxiliaries[0].token == "can" and not question:
            auxiliaries[0].token, auxiliaries[0].anchors = (
                "cannot",
                (*auxiliaries[0].anchors, (clause, "negation")),
            )
        else:
            auxiliaries.insert(1, Leaf("PART", "not", ((clause, "negation"),)))
    if clause.frequency:
        main.insert(0, Leaf("ADV", clause.frequency.en, ((clause, "frequency"),)))
    return auxiliaries, main


def _affirmative(clause: Clause, tense: str) -> tuple[list[Leaf], list[Leaf]]:
    """Returns auxiliaries and main verb as in an affirmative statement."""
    person, plural = _agreement(clause)
    anchors, verb = ((clause, "tense"),), ((clause, "verb"),)
    action = clause.predicate if isinstance(clause.predicate, Action) else None
    if clause.modal:
        return _modal_group(clause, tense)
    if action is None or action.passive:
        role = (*anchors, (clause, "passive")) if action else (*anchors, *verb)
        main = [Leaf("VERB", action.verb.en_participle, verb)] if action else []
        if tense == "future":
            return [Leaf("AUX", "will", anchors)], [Leaf("AUX", "be", role[1:]), *main]
        form = be_form("past" if tense.startswith("past") else "present", person, plural)
        return [Leaf("AUX", form, role)], main
    if tense == "future":
        return [Leaf("AUX", "will", anchors)], [Leaf("VERB", action.verb.en, verb)]
    if tense.endswith("progressive"):
        form = be_form("past" if tense.startswith("past") else "present", person, plural)
        return [Leaf("AUX", form, anchors)], [Leaf("VERB", gerund(action.verb.en), verb)]
    if tense == "past":
        return [], [Leaf("VERB", action.verb.en_past, verb + anchors)]
    third = person == 3 and not plural
    return [], [Leaf("VERB", third_person(action.verb.en) if third else action.verb.en, verb + anchors)]


def _with_do(clause: Clause, tense: str) -> tuple[list[Leaf], list[Leaf]]:
    """Returns *do*, *does* or *did* and the infinitive."""
    person, plural = _agreement(clause)
    token = "did" if tense == "past" else "does" if person == 3 and not plural else "do"
    auxiliary = Leaf("AUX", token, ((clause, "tense"),))
    if clause.modal:
        modal = ((clause, "modal"),)
        verb = "have" if clause.modal.en == "must" else clause.modal.en
        words = [Leaf("VERB", verb, modal), Leaf("PART", "to", modal)]
    else:
        words = []
    return [auxiliary], [*words, _infinitive(clause)]


def _modal_group(clause: Clause, tense: str) -> tuple[list[Leaf], list[Leaf]]:
    modal = clause.modal.en if clause.modal else ""
    anchors = ((clause, "modal"), (clause, "tense"))
    words = _MODALS.get((tense, modal))
    if words is None or words[0] == "had":
        person, plural = _agreement(clause)
        finite = "had" if words else "wanted" if tense == "past" else "wants" if person == 3 and not plural else "want"
        return [], [Leaf("VERB", finite, anchors), Leaf("PART", "to", anchors[:1]), _infinitive(clause)]
    auxiliary = Leaf("AUX", words[0], anchors if len(words) == 1 else anchors[1:])
    return [auxiliary], [*(Leaf("AUX", word, anchors[:1]) for word in words[1:]), _infinitive(clause)]


def _infinitive(clause: Clause) -> Leaf:
    predicate = clause.predicate
    token = predicate.verb.en if isinstance(predicate, Action) else "be"
    return Leaf("VERB", token, ((clause, "verb"),))


def _agreement(clause: Clause) -> tuple[int, bool]:
    nominal = clause.predicate.theme if isinstance(clause.predicate, Existence) else clause.agreeing
    return nominal.person, nominal.plural


def _time(clause: Clause) -> Tree:
    if isinstance(clause.time, int):
        anchors = ((clause, "year"),)
        return Tree("PP", [Leaf("ADP", "in", ((clause, "in"),)), Leaf("NUM", str(clause.time), anchors)])
    words = clause.time.en if clause.time else ()
    return Tree(
        "NP",
        [Leaf(label, word, tuple((clause, "time" + key) for key in keys)) for word, label, keys in words],
    )
