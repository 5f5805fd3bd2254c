"""English: noun phrases, clauses and sentences."""

from __future__ import annotations

from typing import ClassVar

from .meaning import Adjective, Clause, Name, Nominal, NounPhrase
from .realizer import Leaf, Node, Realizer, Tree

_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven")
_PRONOUNS = {  # subject, object, possessive
    (1, False): ("I", "me", "my"),
    (2, False): ("you", "you", "your"),
    (1, True): ("we", "us", "our"),
    (2, True): ("you", "you", "your"),
    (3, True): ("they", "them", "their"),
}
_SINGULAR = {"m": ("he", "him", "his"), "f": ("she", "her", "her"), "n": ("it", "it", "its")}


class English(Realizer):
    """Realizes meanings as English trees."""

    language = "en"
    and_word = "and"
    town_word = "in"
    that_word = "that"
    connectives: ClassVar = {word: word for word in ("and", "but", "so", "because", "when", "if")}
    elided: ClassVar = {"a": "an"}

    def elides(self, token: str, following: str) -> bool:
        """Whether *a* becomes *an*; no word of the lexicon sounds otherwise than it begins, as *hour* does."""
        return following[0] in "aeiouAEIOU"

    def relative_pronoun(self, clause: Clause) -> str:
        """*Who* for a person that is the subject, else *that*."""
        human = clause.antecedent is not None and clause.antecedent.human
        return "who" if human and clause.gap == "subject" else "that"

    def predicate(self, clause: Clause) -> list[Node]:
        auxiliaries, rest = _verb_group(clause)
        inverted = [auxiliaries.pop(0)] if clause.asked else []
        return [*inverted, Tree("VP", [*auxiliaries, *rest, *self._dependents(clause)])]

    def _dependents(self, clause: Clause) -> list[Node]:
        verb = clause.predicate
        if isinstance(verb, Adjective):
            return [self.adjective_phrase(clause, verb.en)]
        children: list[Node] = []
        if clause.object and verb.en_preposition:
            children = [self.prepositional(verb.en_preposition, clause.object, (clause, "preposition"))]
        elif clause.object:
            children = [self.nominal(clause.object, "negated" if clause.negated else "")]
        elif clause.gap == "object" and verb.en_preposition:
            children = [Leaf("ADP", verb.en_preposition, (clause, "preposition"))]
        if clause.recipient:
            children.append(self.prepositional("to", clause.recipient, (clause, "to")))
        place = [self.location(clause.location)] if clause.location else []
        return [*children, *self.manner(clause), *place, *self.complement(clause)]

    def pronoun(self, nominal: Nominal, context: str) -> Leaf:
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
            children.append(_determiner(phrase, negated=context == "negated"))
        if phrase.adjective:
            children.append(self.attribute(phrase, phrase.adjective))
        children.append(Leaf("NOUN", phrase.noun.en_plural if phrase.plural else phrase.noun.en, (phrase, "head")))
        return Tree("NP", [*children, *self.noun_dependents(phrase, "" if genitive else "of")])


def _determiner(phrase: NounPhrase, *, negated: bool) -> Leaf:
    kind, plural, anchor = phrase.determiner, phrase.plural, (phrase, "determiner")
    if kind == "numeral":
        return Leaf("NUM", _NUMERALS[phrase.number], anchor)
    words = {
        "definite": "the",
        "indefinite": "a" if not plural else "any" if negated else "some",
        "demonstrative": "these" if plural else "this",
        "possessive": _pronoun_form(phrase.owner, 2),
    }
    return Leaf("DET", words.get(kind, kind), anchor)


def _verb_group(clause: Clause) -> tuple[list[Leaf], list[Leaf]]:
    """Returns the auxiliary with *not*, and then the main verb.

    The auxiliary can be put before the subject: where a question or *not* needs one, *do* is supplied.
    """
    told, verb = (clause, "tense"), (clause, "verb")
    finite, role = (clause.modal, (clause, "modal")) if clause.modal else (clause.predicate, verb)
    infinitive = "be" if isinstance(finite, Adjective) else finite.en
    third = clause.agreeing.person == 3 and not clause.agreeing.plural
    auxiliaries: list[Leaf] = []
    main = [Leaf("VERB", infinitive, role)]
    if clause.tense == "future":
        auxiliaries = [Leaf("AUX", "will", told)]
    elif isinstance(finite, Adjective):
        auxiliaries, main = [Leaf("AUX", _be_form(clause), told, role)], []
    elif clause.negated or clause.asked:
        auxiliaries = [Leaf("AUX", "did" if clause.tense == "past" else "does" if third else "do", told)]
    else:
        form = finite.en_past if clause.tense == "past" else finite.en_third if third else finite.en
        main = [Leaf("VERB", form, role, told)]
    if clause.modal and not isinstance(clause.predicate, Adjective):
        main += [Leaf("PART", "to", role), Leaf("VERB", clause.predicate.en, verb)]
    if clause.asked:
        auxiliaries[0].anchors += ((clause, "question"),)
    if clause.negated:
        auxiliaries.append(Leaf("PART", "not", (clause, "negation")))
    return auxiliaries, main


def _be_form(clause: Clause) -> str:
    person, plural = clause.agreeing.person, clause.agreeing.plural
    if plural or person == 2:
        return "are" if clause.tense == "present" else "were"
    if clause.tense == "past":
        return "was"
    return "am" if person == 1 else "is"


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
