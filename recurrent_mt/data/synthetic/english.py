"""English: noun phrases, clauses and sentences."""

from __future__ import annotations

from typing import ClassVar

from .meaning import Action, Clause, Existence, Name, Nominal, NounPhrase, Pronoun, Quality
from .realizer import Leaf, Node, Realizer, Tree

_CONSONANT_START = ("uni", "eu", "use", "one", "Uni", "Eu")
_VOWEL_START = ("hour", "honest", "heir")


def begins_with_vowel(token: str) -> bool:
    """Whether *a* becomes *an* before the token."""
    return token.startswith(_VOWEL_START) or (token[0] in "aeiouAEIOU" and not token.startswith(_CONSONANT_START))


def be_form(tense: str, person: int, plural: bool) -> str:
    """Returns the form of *be* in the ``present`` or ``past``."""
    if plural or person == 2:
        return "are" if tense == "present" else "were"
    if tense == "past":
        return "was"
    return "am" if person == 1 else "is"


_NUMERALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_PRONOUNS = {  # subject, object, possessive
    (1, False): ("I", "me", "my"),
    (2, False): ("you", "you", "your"),
    (1, True): ("we", "us", "our"),
    (2, True): ("you", "you", "your"),
    (3, True): ("they", "them", "their"),
}
_SINGULAR = {"m": ("he", "him", "his"), "f": ("she", "her", "her"), "n": ("it", "it", "its")}
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


class English(Realizer):
    """Realizes meanings as English trees."""

    language = "en"
    and_word = "and"
    with_word = "with"
    in_word = ("in", "in")
    connectives: ClassVar = {word: word for word in ("and", "but", "so", "because", "when", "if", "while")}
    elided: ClassVar = {"a": "an"}
    there_word = "there"
    that_word = "that"

    def elides(self, token: str, following: str) -> bool:
        """Whether *a* becomes *an*."""
        return begins_with_vowel(following)

    def predicate(self, clause: Clause) -> list[Node]:
        tense = "present" if clause.after_when and clause.tense == "future" else clause.tense
        auxiliaries, rest = _verb_group(clause, tense)
        inverted = [auxiliaries.pop(0)] if clause.asked else []
        return [*inverted, Tree("VP", [*auxiliaries, *rest, *self._dependents(clause)])]

    def relative_pronoun(self, clause: Clause) -> str:
        """*Who* for a person that is the subject, else *that*."""
        human = clause.antecedent is not None and clause.antecedent.human
        return "who" if human and clause.gap == "subject" else "that"

    def _dependents(self, clause: Clause) -> list[Node]:
        predicate = clause.predicate
        if isinstance(predicate, Quality):
            children: list[Node] = [self._quality(predicate)]
        elif isinstance(predicate, Existence):
            theme = self.nominal(predicate.theme, "negated" if clause.negated else "")
            children = [theme, self.location(predicate.location)]
        else:
            children = self._governed(clause, predicate)
        if clause.manner:
            children.append(Tree("AdvP", [Leaf("ADV", clause.manner.en, (clause, "manner"))]))
        complement = self.complement(clause.action) if clause.action else []
        return [*children, *self.circumstances(clause), *complement]

    def _quality(self, quality: Quality) -> Tree:
        adjective, head, more = quality.modifier.adjective, (quality.modifier, "head"), (quality, "more")
        phrase = self.adjective_phrase(quality.modifier, adjective.en)
        if quality.standard:
            *adverbs, word = adjective.en_comparative
            # *bigger* says both; of *more difficult* each word says one
            anchors = (head,) if adverbs else (head, more)
            than = Tree("PP", [Leaf("SCONJ", "than", (quality, "than")), self.nominal(quality.standard)])
            leaves = [Leaf("ADV", adverb, more) for adverb in adverbs]
            phrase.children = [*leaves, Leaf("ADJ", word, *anchors), than]
        return phrase

    def _governed(self, clause: Clause, action: Action) -> list[Node]:
        verb = action.verb
        particle: list[Node] = [Leaf("ADP", verb.en_particle, (clause, "verb"))] if verb.en_particle else []
        children: list[Node] = []
        if action.object and verb.en_preposition:
            children = [self.prepositional(verb.en_preposition, action.object, (action, "preposition"))]
        elif action.object:
            children = [self.nominal(action.object, "negated" if clause.negated else "")]
        elif clause.gap == "oblique" and verb.en_preposition:
            children = [Leaf("ADP", verb.en_preposition, (clause, "relative"))]
        separated = verb.en_particle in _SEPARABLE and isinstance(action.object, Pronoun)
        children = [*children, *particle] if separated else [*particle, *children]
        if action.recipient:
            children.append(self.prepositional("to", action.recipient, (action, "to")))
        if action.agent:
            children.append(self.prepositional("by", action.agent, (action, "by")))
        return children

    def pronoun(self, nominal: Nominal, context: str) -> Leaf:
        """Returns the pronoun of a subject or of an object."""
        return Leaf("PRON", _pronoun_form(nominal, 0 if context == "subject" else 1), (nominal, "head"))

    def noun_phrase(self, phrase: NounPhrase, context: str) -> Tree:
        """Returns a noun with its dependents; under negation *some* becomes *any*."""
        possessor = phrase.possessor
        genitive = possessor is not None and _takes_genitive(possessor)
        children: list[Node] = []
        if possessor and genitive:
            owner = self.nominal(possessor)
            ends_in_s = possessor.plural and list(owner.leaves())[-1].token.endswith("s")
            children.append(Tree("NP", [owner, Leaf("PART", "'" if ends_in_s else "'s", (phrase, "of"))]))
        else:
            children += self._determiner(phrase, negated=context == "negated")
        if phrase.adjective:
            children.append(self.adjective_phrase(phrase.adjective, phrase.adjective.adjective.en))
        children.append(Leaf("NOUN", phrase.noun.en_plural if phrase.plural else phrase.noun.en, (phrase, "head")))
        return Tree("NP", [*children, *self.noun_dependents(phrase, "" if genitive else "of")])

    def _determiner(self, phrase: NounPhrase, *, negated: bool) -> list[Leaf]:
        kind, plural, anchor = phrase.determiner, phrase.plural, (phrase, "determiner")
        if kind in ("numeral", "amount"):
            number = _NUMERALS.split()[phrase.number] if kind == "numeral" else self.amount(phrase.number)
            return [Leaf("NUM", number, anchor)]
        if kind == "possessive":
            assert phrase.owner
            return [Leaf("DET", _pronoun_form(phrase.owner, 2), anchor)]
        if kind == "few":
            return [Leaf("DET", "a", anchor), Leaf("ADJ", "few", anchor)]
        if kind == "indefinite" and not plural:
            return [Leaf("DET", "a", anchor)]
        words = {
            "definite": "the",
            "indefinite": "any" if negated else "some",
            "partitive": "any" if negated else "some",
            "demonstrative": "these" if plural else "this",
            "each": "every",
            "several": "several",
            "many": "many" if plural else "much",
        }
        return [Leaf("DET", words[kind], anchor)]


def _verb_group(clause: Clause, tense: str) -> tuple[list[Leaf], list[Leaf]]:
    """Returns the auxiliaries with *not*, and then the adverb of frequency and the main verb.

    The first auxiliary can be put before the subject: where a question or *not* needs one, *do* is supplied.
    """
    auxiliaries, main = _affirmative(clause, tense)
    if not auxiliaries and (clause.negated or clause.asked):
        auxiliaries, main = _with_do(clause, tense)
    if clause.asked:
        auxiliaries[0].anchors += ((clause, "question"),)
    if clause.negated and auxiliaries[0].token == "can" and not clause.asked:
        auxiliaries[0].token = "cannot"
        auxiliaries[0].anchors += ((clause, "negation"),)
    elif clause.negated:
        auxiliaries.insert(1, Leaf("PART", "not", (clause, "negation")))
    if clause.frequency:
        main.insert(0, Leaf("ADV", clause.frequency.en, (clause, "frequency")))
    return auxiliaries, main


def _affirmative(clause: Clause, tense: str) -> tuple[list[Leaf], list[Leaf]]:
    """Returns auxiliaries and main verb as in an affirmative statement."""
    if clause.modal:
        return _modal_group(clause, tense)
    told, verb = (clause, "tense"), (clause, "verb")
    action = clause.action
    be = be_form("past" if tense.startswith("past") else "present", *_agreement(clause))
    if action is None or action.passive:
        role = (clause, "passive") if action else verb
        main = [Leaf("VERB", action.verb.en_participle, verb)] if action else []
        if tense == "future":
            return [Leaf("AUX", "will", told)], [Leaf("AUX", "be", role), *main]
        return [Leaf("AUX", be, told, role)], main
    if tense == "future":
        return [Leaf("AUX", "will", told)], [Leaf("VERB", action.verb.en, verb)]
    if tense.endswith("progressive"):
        return [Leaf("AUX", be, told)], [Leaf("VERB", action.verb.en_gerund, verb)]
    present = action.verb.en_third if _is_third_singular(clause) else action.verb.en
    return [], [Leaf("VERB", action.verb.en_past if tense == "past" else present, verb, told)]


def _with_do(clause: Clause, tense: str) -> tuple[list[Leaf], list[Leaf]]:
    """Returns *do*, *does* or *did* and the infinitive."""
    token = "did" if tense == "past" else "does" if _is_third_singular(clause) else "do"
    words = []
    if clause.modal:
        modal = (clause, "modal")
        words = [
            Leaf("VERB", "have" if clause.modal.en == "must" else clause.modal.en, modal),
            Leaf("PART", "to", modal),
        ]
    return [Leaf("AUX", token, (clause, "tense"))], [*words, _infinitive(clause)]


def _modal_group(clause: Clause, tense: str) -> tuple[list[Leaf], list[Leaf]]:
    modal, told = (clause, "modal"), (clause, "tense")
    words = _MODALS.get((tense, clause.modal.en if clause.modal else ""))
    if words is None or words[0] == "had":
        want = "wanted" if tense == "past" else "wants" if _is_third_singular(clause) else "want"
        finite = Leaf("VERB", "had" if words else want, modal, told)
        return [], [finite, Leaf("PART", "to", modal), _infinitive(clause)]
    auxiliary = Leaf("AUX", words[0], modal, told) if len(words) == 1 else Leaf("AUX", words[0], told)
    rest = [Leaf("AUX", word, modal) for word in words[1:]]
    return [auxiliary], [*rest, _infinitive(clause)]


def _infinitive(clause: Clause) -> Leaf:
    return Leaf("VERB", clause.action.verb.en if clause.action else "be", (clause, "verb"))


def _agreement(clause: Clause) -> tuple[int, bool]:
    nominal = clause.predicate.theme if isinstance(clause.predicate, Existence) else clause.agreeing
    return nominal.person, nominal.plural


def _is_third_singular(clause: Clause) -> bool:
    return _agreement(clause) == (3, False)


def _pronoun_form(nominal: Nominal, case: int) -> str:
    """Returns the pronoun for a nominal: case 0 subject, 1 object, 2 possessive."""
    if nominal.person == 3 and not nominal.plural:
        return _SINGULAR[nominal.gender if nominal.human else "n"][case]
    return _PRONOUNS[nominal.person, nominal.plural][case]


def _takes_genitive(possessor: Nominal) -> bool:
    """Whether *X's* is used: for persons named or described before the noun only."""
    if isinstance(possessor, NounPhrase):
        return possessor.human and not (possessor.location or possessor.relative or possessor.possessor)
    return isinstance(possessor, Name)
