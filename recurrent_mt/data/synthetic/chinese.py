"""Chinese: noun phrases with measure words, clauses without inflection, sentences."""

from __future__ import annotations

from typing import ClassVar

from .meaning import Action, Clause, Compound, Existence, Location, Modifier, Name, Nominal, NounPhrase, Quality
from .realizer import Anchor, Leaf, Node, Realizer, Tree

_DIGITS = ("", *"一二三四五六七八九")
_PRONOUNS = {1: "我", 2: "你"}
_PAIRED = {  # before the subordinate clause, behind it, before the main clause
    "because": ("因为", "", "所以"),
    "when": ("当", "的时候", ""),
    "if": ("如果", "", ""),
    "while": ("在", "的同时", ""),
}


class Chinese(Realizer):
    """Realizes meanings as Chinese trees, segmented into words."""

    language = "zh"
    and_word = "和"
    enumeration_comma = "、"
    connectives: ClassVar = {"and": "而且", "but": "但是", "so": "所以"}

    def sentence(self, body: Clause | Compound) -> Tree:
        question = [Leaf("PART", "吗", (body, "question"))] if body.asked else []
        end = Leaf("PUNCT", "？" if body.asked else "。", (body, "end"))
        return Tree("ROOT", [self.body(body), *question, end])

    def body(self, body: Clause | Compound) -> Tree:
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

    def clause(self, clause: Clause) -> Tree:
        """Returns the tree of a clause; of a relative clause, what comes before 的."""
        children: list[Node] = [self.time(clause)] if clause.time else []
        if clause.subject is not None and clause.gap != "subject":
            children.append(self.nominal(clause.subject))
        return Tree("S", [*children, *self.predicate(clause)])

    def predicate(self, clause: Clause) -> list[Node]:
        """Returns the verb phrase: nothing in it depends on whether it is asked."""
        if isinstance(clause.predicate, Existence):
            return [self._existence(clause, clause.predicate)]
        if isinstance(clause.predicate, Quality):
            return [self._quality(clause, clause.predicate)]
        return [self._action(clause, clause.predicate)]

    def relative_clause(self, clause: Clause) -> Tree:
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
            passive = Tree("PP", [Leaf("ADP", "被", (clause, "passive"), (action, "by"))])
            if action.agent:
                passive.children.append(self.nominal(action.agent))
            children.append(passive)
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

    def pronoun(self, nominal: Nominal, context: str) -> Leaf:
        """Returns the pronoun for a nominal, the same in every case."""
        return Leaf("PRON", _pronoun_form(nominal), (nominal, "head"))

    def name(self, name: Name) -> list[Node]:
        """Returns a person's name, with a dot before the surname."""
        given, *surname = super().name(name)
        return [given, Leaf("PUNCT", "·"), *surname] if surname else [given]

    def year(self, year: Leaf, anchor: Anchor) -> Tree:
        """Returns a year, the digits followed by 年."""
        return Tree("NP", [year, Leaf("NOUN", "年", anchor)])

    def location(self, location: Location) -> Tree:
        """Returns 在 … 里; a town or country needs no postposition."""
        anchor = (location, "preposition")
        after = [Leaf("ADP", location.preposition.zh, anchor)] if location.preposition else []
        return Tree("PP", [Leaf("ADP", "在", anchor), self.nominal(location.place), *after])

    def noun_phrase(self, phrase: NounPhrase, context: str) -> Tree:
        """Returns a noun with its dependents; the indefinite object of a negated verb is a bare noun."""
        children: list[Node] = []
        if phrase.possessor:
            children += [self.nominal(phrase.possessor), Leaf("PART", "的", (phrase, "of"))]
        children += self._determiner(phrase, negated=context == "negated")
        if phrase.relative:
            children.append(self.relative_clause(phrase.relative))
        if phrase.location:
            place = self.location(phrase.location)
            # before a noun the phrase of place drops 在: 桌子 上 的 书
            children.append(Tree("PP", [*place.children[1:], Leaf("PART", "的")]))
        if phrase.adjective:
            children.append(self._attribute(phrase.adjective))
        children.append(Leaf("NOUN", phrase.noun.zh, (phrase, "head")))
        if phrase.plural and phrase.human and phrase.determiner in ("definite", "possessive"):
            children.append(Leaf("PART", "们", (phrase, "head")))
        return Tree("NP", children)

    def _attribute(self, use: Modifier) -> Tree:
        """Returns an adjective before its noun: with 的 unless it is one character alone."""
        phrase = self.adjective_phrase(use, use.adjective.zh)
        if use.degree or len(use.adjective.zh) > 1:
            phrase.children.append(Leaf("PART", "的"))
        return phrase

    def _determiner(self, phrase: NounPhrase, *, negated: bool) -> list[Leaf]:
        kind, anchor = phrase.determiner, (phrase, "determiner")
        if kind == "definite" or (negated and kind in ("indefinite", "partitive")):
            return []
        if kind == "possessive":
            assert phrase.owner
            return [Leaf("PRON", _pronoun_form(phrase.owner), anchor), Leaf("PART", "的", anchor)]
        if kind == "amount":
            return [Leaf("NUM", self.amount(phrase.number), anchor)]
        if kind == "demonstrative" and (phrase.plural or phrase.noun.mass):
            return [Leaf("DET", "这些", anchor)]
        measure = Leaf("CLF", phrase.noun.measure, anchor)
        if kind == "numeral" or (kind == "indefinite" and not phrase.plural):
            return [Leaf("NUM", _numeral(phrase.number) if kind == "numeral" else "一", anchor), measure]
        measured = {"demonstrative": "这", "each": "每", "several": "好几", "few": "几"}
        if kind in measured:
            return [Leaf("DET", measured[kind], anchor), measure]
        return [Leaf("DET", "很多" if kind == "many" else "一些", anchor)]


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
        if clause.negated and place_follows:
            return [Leaf("PART", "没", negative)]
        if clause.negated:
            return [Leaf("PART", "没", negative), Leaf("AUX", "在", tense)]
        return [Leaf("AUX", "正" if place_follows else "正在", tense)]
    return [Leaf("PART", negation, negative)] if clause.negated else []


def _modal_auxiliaries(clause: Clause, modal: str) -> list[Leaf]:
    """Returns the modal verb, behind 将 of the future and the negation."""
    future = [Leaf("AUX", "将", (clause, "tense"))] if clause.tense == "future" else []
    negation = [Leaf("PART", "不", (clause, "negation"))] if clause.negated else []
    return [*future, *negation, Leaf("AUX", modal, (clause, "modal"))]


def _aspect(clause: Clause) -> list[Leaf]:
    """Returns 了, in a relative clause 过, for an event in the past that is neither denied nor a habit."""
    past_event = clause.tense == "past" and not (clause.stative or clause.negated or clause.frequency)
    if not past_event or (clause.action and clause.action.complement):
        return []
    return [Leaf("PART", "过" if clause.gap else "了", (clause, "tense"))]


def _plural_marker(clause: Clause) -> list[Leaf]:
    """Returns 都 behind a subject whose plural, or whose *every*, no other word shows."""
    subject = clause.subject
    if not isinstance(subject, NounPhrase):
        return []
    hidden = subject.plural and subject.determiner in ("definite", "possessive") and not subject.human
    return [Leaf("ADV", "都", (subject, "determiner"))] if hidden or subject.determiner == "each" else []


def _numeral(number: int) -> str:
    """Returns a number from 1 to 20 as it is counted with a measure word: 2 is 两."""
    tens, units = divmod(number, 10)
    return "两" if number == 2 else ("", "十", "二十")[tens] + _DIGITS[units]


def _pronoun_form(nominal: Nominal) -> str:
    third = ("他" if nominal.gender == "m" else "她") if nominal.human else "它"
    return _PRONOUNS.get(nominal.person, third) + ("们" if nominal.plural else "")
