"""Chinese clauses and sentences."""

from __future__ import annotations

from typing import ClassVar

from ..meaning import Action, Clause, Compound, Existence, NounPhrase, Quality, Sentence
from ..tree import Anchor, Leaf, Node, Tree
from .nominals import ChineseNominals

_PAIRED = {  # before the subordinate clause, behind it, before the main clause
    "because": ("因为", "", "所以"),
    "when": ("当", "的时候", ""),
    "if": ("如果", "", ""),
    "while": ("在", "的同时", ""),
}


class Chinese(ChineseNominals):
    """Realizes meanings as Chinese trees, segmented into words."""

    connectives: ClassVar = {"and": "而且", "but": "但是", "so": "所以"}

    def sentence(self, sentence: Sentence) -> Tree:
        """Returns the tree of a sentence."""
        question = [Leaf("PART", "吗", (sentence, "question"))] if sentence.question else []
        end = Leaf("PUNCT", "？" if sentence.question else "。", (sentence, "end"))
        return Tree("ROOT", [self.body(sentence.body), *question, end])

    def body(self, body: Clause | Compound, question: Sentence | None = None, as_present: bool = False) -> Tree:
        """Returns a clause, or several joined, the subordinate one first."""
        if isinstance(body, Clause):
            return self.clause(body)
        anchor = (body, "connective")
        first, second = self.body(body.first), self.body(body.second)
        comma = Leaf("PUNCT", "，", (body, "comma"))
        if body.connective in self.connectives:
            return Tree("S", [first, comma, Leaf("CCONJ", self.connectives[body.connective], anchor), second])
        before, behind, main = _PAIRED[body.connective]
        closing = [Leaf("SCONJ", behind, anchor)] if behind else []
        links = [Leaf("CCONJ", main, anchor)] if main else []
        return Tree("S", [Tree("SBAR", [Leaf("SCONJ", before, anchor), second, *closing]), comma, *links, first])

    def clause(self, clause: Clause, question: Sentence | None = None, as_present: bool = False) -> Tree:
        """Returns the tree of a clause; of a relative clause, what comes before 的."""
        children: list[Node] = [self.time(clause)] if clause.time else []
        if clause.subject is not None and clause.gap != "subject":
            children.append(self.nominal(clause.subject))
        return Tree("S", [*children, *self.predicate(clause, question, as_present)])

    def predicate(self, clause: Clause, question: Sentence | None, as_present: bool) -> list[Node]:
        """Returns the verb phrase: nothing in it depends on whether it is asked."""
        if isinstance(clause.predicate, Existence):
            return [self._existence(clause, clause.predicate)]
        if isinstance(clause.predicate, Quality):
            return [self._quality(clause, clause.predicate)]
        return [self._action(clause, clause.predicate)]

    def relative_clause(self, clause: Clause) -> Tree:
        """Returns a relative clause with its final 的."""
        return Tree("SBAR", [self.clause(clause), Leaf("PART", "的", (clause, "relative"))])

    def _existence(self, clause: Clause, existence: Existence) -> Tree:
        place = self.location(existence.location)
        # the place is the topic and drops 在 where a postposition marks it
        if existence.location.preposition:
            place.children.pop(0)
        verb = Leaf("VERB", "有", (clause, "verb"), (clause, "tense"), (clause, "there"))
        theme = self.nominal(existence.theme, "negated" if clause.negated else "")
        return Tree("VP", [place, *_adverbs(clause, negation="没"), verb, theme])

    def _quality(self, clause: Clause, quality: Quality) -> Tree:
        phrase = self.adjective_phrase(quality.modifier, quality.modifier.adjective.zh)
        if quality.standard:
            # a negated comparison is told by 没有 alone
            word = [] if clause.negated else [_than(quality)]
            standard = Tree("PP", [*word, self.nominal(quality.standard)])
            return Tree("VP", [*_adverbs(clause, negation="没有"), standard, phrase])
        if not (clause.negated or quality.modifier.degree or clause.frequency):
            phrase.children.insert(0, Leaf("ADV", "很", (clause, "verb")))
        return Tree("VP", [*_adverbs(clause, negation="不"), phrase])

    def _action(self, clause: Clause, action: Action) -> Tree:
        negation = "没" if action.verb.zh == "有" or (clause.tense == "past" and not clause.stative) else "不"
        children: list[Node] = [*_adverbs(clause, negation)]
        if clause.companion:
            anchor = (clause, "with")
            companion = self.nominal(clause.companion)
            children.append(Tree("PP", [Leaf("ADP", "和", anchor), companion, Leaf("ADV", "一起", anchor)]))
        if clause.location:
            children.append(self.location(clause.location))
        if clause.manner:
            children.append(Tree("AdvP", [Leaf("ADV", clause.manner.zh, (clause, "manner")), Leaf("PART", "地")]))
        if action.passive:
            by = Leaf("ADP", "被", (clause, "passive"), (action, "by"))
            children.append(Tree("PP", [by, *([self.nominal(action.agent)] if action.agent else [])]))
        return Tree("VP", [*children, *self._governed(clause, action)])

    def _governed(self, clause: Clause, action: Action) -> list[Node]:
        """Returns the verb, its object and its recipient."""
        verb = action.verb
        anchors: tuple[Anchor, ...] = ((clause, "verb"), (clause, "tense"))
        children: list[Node] = []
        for word in (*verb.zh_before, "_", *verb.zh_after):
            if word == "_":
                hole = len(children)
            elif word == verb.zh:
                children += [Leaf("VERB", word, *anchors), *_aspect(clause)]
            else:
                # the words around the place of an object also express the preposition of the other language
                children.append(Leaf("ADP", word, *anchors, (action, "preposition"), (action, "to")))
        inserted = self.nominal(action.object, "negated" if clause.negated else "") if action.object else None
        if verb.frame == "ditransitive":
            children += [inserted] if inserted else []
            inserted = self.nominal(action.recipient) if action.recipient else None
        if inserted:
            children.insert(hole, inserted)
        if action.complement:
            children.append(Tree("SBAR", [self.clause(action.complement)]))
        return children


def _than(quality: Quality) -> Leaf:
    return Leaf("ADP", "比", (quality, "than"), (quality, "more"))


def _adverbs(clause: Clause, negation: str) -> list[Leaf]:
    """Returns what tells time, number, frequency, negation and modality before the verb, in this order."""
    frequency = [Leaf("ADV", clause.frequency.zh, (clause, "frequency"))] if clause.frequency else []
    auxiliaries = _modal_auxiliaries(clause, clause.modal.zh) if clause.modal else _auxiliaries(clause, negation)
    negated_first = [*auxiliaries, *frequency] if clause.negated else [*frequency, *auxiliaries]
    return [*_past_adverb(clause), *_plural_marker(clause), *negated_first]


def _past_adverb(clause: Clause) -> list[Leaf]:
    """Returns 当时 or 以前 where neither 了 nor a time expression tells the past."""
    tense = (clause, "tense")
    if clause.tense == "past_progressive":
        return [Leaf("ADV", "当时", tense)]
    needed = clause.tense == "past" and (clause.stative or clause.frequency) and not clause.time
    return [Leaf("ADV", "以前", tense)] if needed else []


def _auxiliaries(clause: Clause, negation: str) -> list[Leaf]:
    """Returns 会 of the future, 正在 of the progressive, and the negation."""
    tense, negative = (clause, "tense"), (clause, "negation")
    if clause.tense == "future":
        leaves = [Leaf("PART", "不", negative)] if clause.negated else []
        leaves.append(Leaf("AUX", "会", tense))
        if clause.negated and isinstance(clause.predicate, Quality) and clause.predicate.standard:
            leaves.append(_than(clause.predicate))
        return leaves
    if clause.tense.endswith("progressive"):
        # where 在 of a place follows, it serves for both
        place_follows = clause.location is not None and clause.companion is None
        if clause.negated:
            return [Leaf("PART", "没", negative), *([] if place_follows else [Leaf("AUX", "在", tense)])]
        return [Leaf("AUX", "正" if place_follows else "正在", tense)]
    return [Leaf("PART", negation, negative)] if clause.negated else []


def _modal_auxiliaries(clause: Clause, modal: str) -> list[Leaf]:
    """Returns the modal verb, behind 将 of the future and the negation."""
    future = [Leaf("AUX", "将", (clause, "tense"))] if clause.tense == "future" else []
    negation = [Leaf("PART", "不", (clause, "negation"))] if clause.negated else []
    return [*future, *negation, Leaf("AUX", modal, (clause, "modal"))]


def _aspect(clause: Clause) -> list[Leaf]:
    """Returns 了, in a relative clause 过, for an event in the past that is neither denied nor a habit."""
    action = clause.predicate
    past_event = clause.tense == "past" and not (clause.stative or clause.negated or clause.frequency)
    if not past_event or (isinstance(action, Action) and action.complement):
        return []
    return [Leaf("PART", "过" if clause.gap else "了", (clause, "tense"))]


def _plural_marker(clause: Clause) -> list[Leaf]:
    """Returns 都 behind a subject whose plural, or whose *every*, no other word shows."""
    subject = clause.subject
    if not isinstance(subject, NounPhrase):
        return []
    hidden = subject.plural and subject.determiner in ("definite", "possessive") and not subject.human
    return [Leaf("ADV", "都", (subject, "determiner"))] if hidden or subject.determiner == "each" else []
