"""Chinese clauses and sentences."""

from __future__ import annotations

from ..meaning import Action, Clause, Compound, Existence, Nominal, NounPhrase, Quality, Sentence
from ..tree import Leaf, Node, Tree
from .nominals import ChineseNominals, adjective_phrase

_PAIRED = {  # before the subordinate clause, behind it, before the main clause
    "because": ("因为", "", "所以"),
    "when": ("当", "的时候", ""),
    "if": ("如果", "", ""),
    "while": ("在", "的同时", ""),
}
_COORDINATED = {"and": "而且", "but": "但是", "so": "所以"}


class Chinese:
    """Realizes meanings as Chinese trees, segmented into words."""

    def __init__(self) -> None:
        self._nominals = ChineseNominals(self._relative)

    def sentence(self, sentence: Sentence) -> Tree:
        """Returns the tree of a sentence."""
        question = [Leaf("PART", "吗", ((sentence, "question"),))] if sentence.question else []
        end = Leaf("PUNCT", "？" if sentence.question else "。", ((sentence, "end"),))
        return Tree("ROOT", [self._body(sentence.body), *question, end])

    def _body(self, body: Clause | Compound) -> Tree:
        if isinstance(body, Clause):
            return self.clause(body)
        anchors = ((body, "connective"),)
        first, second = self._body(body.first), self._body(body.second)
        comma = Leaf("PUNCT", "，", ((body, "comma"),))
        if body.connective in _COORDINATED:
            return Tree("S", [first, comma, Leaf("CCONJ", _COORDINATED[body.connective], anchors), second])
        before, behind, main = _PAIRED[body.connective]
        children: list[Node] = [Leaf("SCONJ", before, anchors), second]
        if behind:
            children.append(Leaf("SCONJ", behind, anchors))
        links = [Leaf("CCONJ", main, anchors)] if main else []
        return Tree("S", [Tree("SBAR", children), comma, *links, first])

    def clause(self, clause: Clause) -> Tree:
        """Returns the tree of a clause; of a relative clause, what comes before 的."""
        children: list[Node] = [_time(clause)] if clause.time else []
        if isinstance(clause.predicate, Existence):
            return Tree("S", [*children, self._existence(clause, clause.predicate)])
        if clause.subject is not None and clause.gap != "subject":
            children.append(self._nominals.nominal(clause.subject))
        if isinstance(clause.predicate, Quality):
            phrase = self._quality(clause, clause.predicate)
        else:
            phrase = self._action(clause, clause.predicate)
        return Tree("S", [*children, phrase])

    def _relative(self, clause: Clause) -> Tree:
        return Tree("SBAR", [self.clause(clause), Leaf("PART", "的", ((clause, "relative"),))])

    def _existence(self, clause: Clause, existence: Existence) -> Tree:
        place = self._nominals.location(existence.location)
        anchors = ((clause, "verb"), (clause, "tense"), (clause, "there"))
        # the place is the topic and drops 在 where a postposition marks it
        if existence.location.preposition:
            place.children.pop(0)
        theme = self._nominals.nominal(existence.theme, negated=clause.negated)
        adverbs = _adverbs(clause, negation="没")
        return Tree("VP", [place, *adverbs, Leaf("VERB", "有", anchors), theme])

    def _quality(self, clause: Clause, quality: Quality) -> Tree:
        phrase = adjective_phrase(quality.modifier)
        if quality.standard:
            adverbs = _adverbs(clause, negation="没有")
            # a negated comparison is told by 没有 alone
            word = [] if clause.negated else [Leaf("ADP", "比", ((quality, "than"), (quality, "more")))]
            return Tree("VP", [*adverbs, Tree("PP", [*word, self._nominals.nominal(quality.standard)]), phrase])
        adverbs = _adverbs(clause, negation="不")
        if not (clause.negated or quality.modifier.degree or clause.frequency):
            phrase.children.insert(0, Leaf("ADV", "很", ((clause, "verb"),)))
        return Tree("VP", [*adverbs, phrase])

    def _action(self, clause: Clause, action: Action) -> Tree:
        verb = action.verb
        negation = "没" if verb.zh == "有" or (clause.tense == "past" and not clause.stative) else "不"
        children: list[Node] = [*_adverbs(clause, negation)]
        if clause.companion:
            anchors = ((clause, "with"),)
            companion = self._nominals.nominal(clause.companion)
            children.append(Tree("PP", [Leaf("ADP", "和", anchors), companion, Leaf("ADV", "一起", anchors)]))
        if clause.location:
            children.append(self._nominals.location(clause.location))
        if clause.manner:
            manner = [Leaf("ADV", clause.manner.zh, ((clause, "manner"),)), Leaf("PART", "地")]
            children.append(Tree("AdvP", list(manner)))
        if action.passive:
            by = Leaf("ADP", "被", ((clause, "passive"), (action, "by")))
            agent = [self._nominals.nominal(action.agent)] if action.agent else []
            children.append(Tree("PP", [by, *agent]))
        return Tree("VP", [*children, *self._governed(clause, action)])

    def _governed(self, clause: Clause, action: Action) -> list[Node]:
        """Returns the verb, its object and its recipient."""
        verb = action.verb
        anchors = ((clause, "verb"), (clause, "tense"))
        # the words around the place of an object also express the preposition of the other language
        around = (*anchors, (action, "preposition"), (action, "to"))
        words: list[Leaf] = []
        for word in (*verb.zh_before, "_", *verb.zh_after):
            if word == "_":
                hole = len(words)
            elif word == verb.zh:
                words += [Leaf("VERB", word, anchors), *_aspect(clause)]
            else:
                words.append(Leaf("ADP", word, around))
        children: list[Node] = list(words)
        negated = clause.negated
        theme = self._nominals.nominal(action.object, negated=negated) if action.object else None
        inner: Nominal | None = action.recipient
        if verb.frame == "ditransitive":
            if theme is not None:
                children.append(theme)
            theme = self._nominals.nominal(inner) if inner else None
        if theme is not None:
            children.insert(hole, theme)
        if action.complement:
            children.append(Tree("SBAR", [self.clause(action.complement)]))
        return children


def _adverbs(clause: Clause, negation: str) -> list[Leaf]:
    """Returns what tells time, number, frequency, negation and modality before the verb, in this order."""
    frequency = [Leaf("ADV", clause.frequency.zh, ((clause, "frequency"),))] if clause.frequency else []
    auxiliaries = _modal_auxiliaries(clause) if clause.modal else _auxiliaries(clause, negation)
    leaves = [*_past_adverb(clause), *_plural_marker(clause)]
    if clause.negated:
        return [*leaves, *auxiliaries, *frequency]
    return [*leaves, *frequency, *auxiliaries]


def _past_adverb(clause: Clause) -> list[Leaf]:
    """Returns 当时 or 以前 where neither 了 nor a time expression tells the past."""
    tense = ((clause, "tense"),)
    if clause.tense == "past_progressive":
        return [Leaf("ADV", "当时", tense)]
    needed = clause.tense == "past" and (clause.stative or clause.frequency) and not clause.time
    return [Leaf("ADV", "以前", tense)] if needed else []


def _auxiliaries(clause: Clause, negation: str) -> list[Leaf]:
    """Returns 会 of the future, 正在 of the progressive, and the negation."""
    tense, negative = ((clause, "tense"),), ((clause, "negation"),)
    if clause.tense == "future":
        leaves = [Leaf("PART", "不", negative)] if clause.negated else []
        leaves.append(Leaf("AUX", "会", tense))
        if clause.negated and isinstance(clause.predicate, Quality) and clause.predicate.standard:
            leaves.append(Leaf("ADP", "比", ((clause.predicate, "than"), (clause.predicate, "more"))))
        return leaves
    if clause.tense.endswith("progressive"):
        # where 在 of a place follows, it serves for both
        place_follows = clause.location is not None and clause.companion is None
        if clause.negated:
            progressive = [] if place_follows else [Leaf("AUX", "在", tense)]
            return [Leaf("PART", "没", negative), *progressive]
        return [Leaf("AUX", "正" if place_follows else "正在", tense)]
    return [Leaf("PART", negation, negative)] if clause.negated else []


def _modal_auxiliaries(clause: Clause) -> list[Leaf]:
    """Returns the modal verb, behind 将 of the future and the negation."""
    leaves = [Leaf("AUX", "将", ((clause, "tense"),))] if clause.tense == "future" else []
    if clause.negated:
        leaves.append(Leaf("PART", "不", ((clause, "negation"),)))
    modal = clause.modal.zh if clause.modal else ""
    return [*leaves, Leaf("AUX", modal, ((clause, "modal"),))]


def _aspect(clause: Clause) -> list[Leaf]:
    """Returns 了, in a relative clause 过, for an event in the past that is neither denied nor a habit."""
    action = clause.predicate
    past_event = clause.tense == "past" and not (clause.stative or clause.negated or clause.frequency)
    if not past_event or (isinstance(action, Action) and action.complement):
        return []
    return [Leaf("PART", "过" if clause.gap else "了", ((clause, "tense"),))]


def _plural_marker(clause: Clause) -> list[Leaf]:
    """Returns 都 behind a subject whose plural, or whose *every*, no other word shows."""
    subject = clause.subject
    if not isinstance(subject, NounPhrase):
        return []
    hidden = subject.plural and subject.determiner in ("definite", "possessive") and not subject.human
    return [Leaf("ADV", "都", ((subject, "determiner"),))] if hidden or subject.determiner == "each" else []


def _time(clause: Clause) -> Tree:
    if isinstance(clause.time, int):
        return Tree("NP", [Leaf("NUM", str(clause.time), ((clause, "year"),)), Leaf("NOUN", "年", ((clause, "in"),))])
    words = clause.time.zh if clause.time else ()
    return Tree(
        "NP",
        [Leaf(label, word, tuple((clause, "time" + key) for key in keys)) for word, label, keys in words],
    )
