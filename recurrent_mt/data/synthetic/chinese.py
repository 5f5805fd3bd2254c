"""Chinese: noun phrases with measure words, clauses without inflection, sentences."""

from __future__ import annotations

from typing import ClassVar

from .meaning import Adjective, Clause, Compound, Location, Name, Nominal, NounPhrase, Verb
from .realizer import Leaf, Node, Realizer, Tree

_NUMERALS = ("零", "一", "两", "三", "四", "五", "六", "七")
_PRONOUNS = {1: "我", 2: "你"}
_PAIRED = {  # before the subordinate clause, behind it, before the main clause
    "because": ("因为", "", "所以"),
    "when": ("当", "的时候", ""),
    "if": ("如果", "", ""),
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
        if clause.subject is not None:
            children.append(self.nominal(clause.subject))
        return Tree("S", [*children, *self.predicate(clause)])

    def predicate(self, clause: Clause) -> list[Node]:
        """Returns the verb phrase: nothing in it depends on whether it is asked."""
        if isinstance(clause.predicate, Adjective):
            phrase = self.adjective_phrase(clause, clause.predicate.zh)
            if not (clause.negated or clause.degree):
                phrase.children.insert(0, Leaf("ADV", "很", (clause, "verb")))
            return [Tree("VP", [*_adverbs(clause, "不"), phrase])]
        event = clause.tense == "past" and not clause.stative
        children: list[Node] = [*_adverbs(clause, "没" if event or clause.predicate.zh == "有" else "不")]
        if clause.location:
            children.append(self.location(clause.location))
        if clause.manner:
            children += [*self.manner(clause), Leaf("PART", "地")]
        return [Tree("VP", [*children, *self._governed(clause, clause.predicate)])]

    def _governed(self, clause: Clause, verb: Verb) -> list[Node]:
        """Returns the verb, its objects, and the clause that is said or thought."""
        children: list[Node] = [Leaf("VERB", verb.zh, (clause, "verb"), (clause, "tense")), *_aspect(clause)]
        thing = [self.nominal(clause.object, "negated" if clause.negated else "")] if clause.object else []
        if verb.zh_preposition:
            before = Leaf("ADP", verb.zh_preposition, (clause, "verb"), (clause, "preposition"))
            return [Tree("PP", [before, *thing]), *children]
        if clause.recipient:
            children.append(self.nominal(clause.recipient))
        said = [Tree("SBAR", [self.clause(clause.complement)])] if clause.complement else []
        return [*children, *thing, *said]

    def relative_clause(self, clause: Clause) -> Tree:
        return Tree("SBAR", [self.clause(clause), Leaf("PART", "的", (clause, "relative"))])

    def pronoun(self, nominal: Nominal, context: str) -> Leaf:
        return Leaf("PRON", _pronoun_form(nominal), (nominal, "head"))

    def name(self, name: Name) -> list[Node]:
        """Returns a person's name, with a dot before the surname."""
        first, *surname = super().name(name)
        return [first, Leaf("PUNCT", "·"), *surname] if surname else [first]

    def location(self, location: Location) -> Tree:
        """Returns 在 … 里; a town needs no postposition."""
        anchor = (location, "preposition")
        after = [Leaf("ADP", location.preposition.zh, anchor)] if location.preposition else []
        return Tree("PP", [Leaf("ADP", "在", anchor), self.nominal(location.place), *after])

    def noun_phrase(self, phrase: NounPhrase, context: str) -> Tree:
        """Returns a noun with its dependents; the indefinite object of a negated verb is a bare noun."""
        children: list[Node] = []
        if phrase.possessor:
            children += [self.nominal(phrase.possessor), Leaf("PART", "的", (phrase, "of"))]
        if phrase.determiner != "definite" and not (context == "negated" and phrase.determiner == "indefinite"):
            children += _determiner(phrase)
        if phrase.relative:
            children.append(self.relative_clause(phrase.relative))
        if phrase.location:
            place = self.location(phrase.location)
            # before a noun the phrase of place drops 在: 桌子 上 的 书
            children.append(Tree("PP", [*place.children[1:], Leaf("PART", "的")]))
        if phrase.adjective:
            children.append(self.attribute(phrase, phrase.adjective))
        children.append(Leaf("NOUN", phrase.noun.zh, (phrase, "head")))
        if phrase.plural and phrase.human and phrase.determiner in ("definite", "possessive"):
            children.append(Leaf("PART", "们", (phrase, "head")))
        return Tree("NP", children)

    def attribute(self, phrase: NounPhrase, adjective: Adjective) -> Tree:
        """Returns an adjective before its noun: with 的 unless it is one character alone."""
        tree = super().attribute(phrase, adjective)
        if len(adjective.zh) > 1:
            tree.children.append(Leaf("PART", "的"))
        return tree


def _determiner(phrase: NounPhrase) -> list[Leaf]:
    kind, anchor = phrase.determiner, (phrase, "determiner")
    if kind == "possessive":
        return [Leaf("PRON", _pronoun_form(phrase.owner), anchor), Leaf("PART", "的", anchor)]
    if kind == "many" or (phrase.plural and kind in ("indefinite", "demonstrative")):
        words = {"many": "很多", "indefinite": "一些", "demonstrative": "这些"}
        return [Leaf("DET", words[kind], anchor)]
    words = {"numeral": _NUMERALS[phrase.number], "indefinite": "一", "demonstrative": "这", "several": "好几"}
    label = "NUM" if kind in ("numeral", "indefinite") else "DET"
    return [Leaf(label, words[kind], anchor), Leaf("CLF", phrase.noun.measure, anchor)]


def _adverbs(clause: Clause, negation: str) -> list[Leaf]:
    """Returns what tells number, past, negation, future and modality before the verb, in this order."""
    leaves: list[Leaf] = []
    subject, tense = clause.subject, (clause, "tense")
    if isinstance(subject, NounPhrase) and subject.plural and not subject.human:
        # no other word shows the plural
        hidden = subject.determiner in ("definite", "possessive")
        leaves += [Leaf("ADV", "都", (subject, "determiner"))] if hidden else []
    if clause.tense == "past" and clause.stative and not clause.time:
        leaves.append(Leaf("ADV", "以前", tense))
    if clause.negated:
        leaves.append(Leaf("PART", "不" if clause.tense == "future" else negation, (clause, "negation")))
    if clause.tense == "future":
        leaves.append(Leaf("AUX", "会", tense))
    if clause.modal:
        leaves.append(Leaf("AUX", clause.modal.zh, (clause, "modal")))
    return leaves


def _aspect(clause: Clause) -> list[Leaf]:
    """Returns 了, in a relative clause 过, for an event in the past that is not denied."""
    if clause.tense != "past" or clause.stative or clause.negated:
        return []
    return [Leaf("PART", "过" if clause.gap else "了", (clause, "tense"))]


def _pronoun_form(nominal: Nominal) -> str:
    third = ("他" if nominal.gender == "m" else "她") if nominal.human else "它"
    return _PRONOUNS.get(nominal.person, third) + ("们" if nominal.plural else "")
