"""Agreement derived anew from the trees and the tables of words, not from the code that made it."""

from collections import defaultdict
from itertools import pairwise

import pytest

from recurrent_mt.data.synthetic import Leaf, Tree
from recurrent_mt.data.synthetic.french import participle_form
from recurrent_mt.data.synthetic.lexicon import conjugations, words
from recurrent_mt.data.synthetic.meaning import Adjective, Noun, Verb

ANY = {(gender, plural) for gender in "mf" for plural in (False, True)}
FRENCH_DETERMINERS = {
    "le": "m", "un": "m", "ce": "m", "cet": "m", "du": "m", "au": "m", "la": "f", "une": "f", "cette": "f",
}  # fmt: skip
FRENCH_PLURALS = {
    "les", "des", "aux", "ces", "mes", "tes", "ses", "nos", "vos", "leurs", "plusieurs", "quelques",
    "deux", "trois", "quatre", "cinq", "six",
}  # fmt: skip
FRENCH_SINGULARS = ["chaque", "notre", "votre", "leur", "l'"]
ENGLISH_DETERMINERS = {
    "a": False,
    "an": False,
    "this": False,
    "every": False,
    "these": True,
    "several": True,
    "many": True,
}


def forms_of_french():
    """What each form of a French noun or adjective can be: sets of (gender, plural)."""
    forms = defaultdict(set)
    for noun in words(Noun):
        forms[noun.fr].add((noun.gender, False))
        forms[noun.fr_plural].add((noun.gender, True))
    for adjective in words(Adjective):
        forms[adjective.fr].add(("m", False))
        forms[adjective.plural].add(("m", True))
        forms[adjective.feminine].add(("f", False))
        forms[adjective.feminine + "s"].add(("f", True))
        if adjective.liaison:
            forms[adjective.liaison].add(("m", False))
    return forms


def features(leaf, forms):
    """What (gender, plural) a word of a French noun phrase allows."""
    if leaf.label in ("NOUN", "ADJ"):
        return forms[leaf.token]
    if leaf.token in FRENCH_DETERMINERS:
        return {(FRENCH_DETERMINERS[leaf.token], False)}
    if leaf.token in FRENCH_PLURALS:
        return {("m", True), ("f", True)}
    if leaf.token in FRENCH_SINGULARS:
        return {("m", False), ("f", False)}
    return ANY


def words_that_agree(phrase):
    """Determiner, noun and attributive adjectives of a noun phrase; none if it has no noun of its own."""
    if phrase.label != "NP" or sum(isinstance(c, Leaf) and c.label == "NOUN" for c in phrase.children) != 1:
        return []
    found = []
    for child in phrase.children:
        if isinstance(child, Leaf) and child.label in ("DET", "NUM", "NOUN", "ADP"):
            found.append(child)
        elif isinstance(child, Tree) and child.label == "AP":
            found += [leaf for leaf in child.children if isinstance(leaf, Leaf) and leaf.label == "ADJ"]
    return found


def agrees(phrase, forms):
    common = set(ANY)
    for word in words_that_agree(phrase):
        common &= features(word, forms)
    return bool(common)


def test_french_noun_phrases_agree(corpora):
    forms, checked = forms_of_french(), 0
    for example in corpora["fr-en"]["train"]:
        for phrase in example.source_tree.subtrees():
            agreeing = words_that_agree(phrase)
            if any(leaf.token not in forms for leaf in agreeing if leaf.label == "NOUN"):
                continue  # the nouns of time expressions are not in the table of nouns
            assert agrees(phrase, forms), str(phrase)
            checked += len(agreeing) > 1
    assert checked > 6000


@pytest.mark.parametrize(("wrong", "right"), [("le", "la"), ("un", "une"), ("ces", "cette")])
def test_the_check_of_agreement_can_fail(wrong, right):
    forms = forms_of_french()
    for determiner, expected in ((wrong, False), (right, True)):
        phrase = Tree("NP", [Leaf("DET", determiner), Leaf("NOUN", "table")])
        assert agrees(phrase, forms) is expected


def test_french_elides_before_vowels(corpora):
    """No *le*, *ne* or *que* is left before a vowel; *l'*, *n'* and *qu'* stand before a vowel or h."""
    vowels = "aeiouyàâéèêëîïôœùûhAEIOUYÉÈÎH"
    aspirated = ("héros", "hibou", "hérisson", "haricot", "haïku", "hangar", "huit", "onze")
    elided = 0
    for example in corpora["fr-en"]["train"]:
        for word, following in pairwise(example.source_tokens):
            if word.endswith("'"):
                assert following[0] in vowels and not following.startswith(aspirated), (word, following)
                elided += 1
            if word in ("le", "la", "ne", "de", "que", "je", "me", "te", "ce", "beau", "ma", "ta", "sa"):
                assert following[0] not in vowels or following.startswith(aspirated), (word, following)
    assert elided > 1500


def test_french_contracts_prepositions_with_articles(corpora):
    for example in corpora["fr-en"]["train"]:
        tagged = [(leaf.label, leaf.token) for leaf in example.source_tree.leaves()]
        for (label, token), following in pairwise(tagged):
            assert not (label == "ADP" and token in ("de", "à") and following in (("DET", "le"), ("DET", "les")))


def numbers_of_english_nouns():
    """Whether each form of an English noun can be a plural, and a singular."""
    numbers = defaultdict(set)
    for noun in words(Noun):
        numbers[noun.en].add(False)
        numbers[noun.en_plural].add(True)
    return numbers


def test_english_subjects_and_verbs_agree(corpora):
    numbers, checked = numbers_of_english_nouns(), 0
    for example in corpora["zh-en"]["train"] + corpora["fr-en"]["train"]:
        for clause in example.target_tree.subtrees():
            if clause.label != "S" or [child.label for child in clause.children[:2]] != ["NP", "VP"]:
                continue
            subject, phrase = clause.children[:2]
            nouns = [leaf for leaf in subject.children if isinstance(leaf, Leaf) and leaf.label == "NOUN"]
            verb = next(iter(phrase.leaves()))
            if len(nouns) == 1 and nouns[0].token in numbers and verb.label == "AUX":
                expected = {"is": False, "was": False, "does": False, "are": True, "were": True, "do": True}
                if verb.token in expected:
                    assert expected[verb.token] in numbers[nouns[0].token], str(clause)
                    checked += 1
    assert checked > 1000


def test_english_determiners_agree(corpora):
    numbers, checked = numbers_of_english_nouns(), 0
    for example in corpora["fr-en"]["train"]:
        for phrase in example.target_tree.subtrees():
            agreeing = words_that_agree(phrase)
            nouns = [leaf.token for leaf in agreeing if leaf.label == "NOUN" and leaf.token in numbers]
            determiners = [leaf.token for leaf in agreeing if leaf.label == "DET" and leaf.token in ENGLISH_DETERMINERS]
            if nouns and determiners and "few" not in example.target_tokens:
                assert ENGLISH_DETERMINERS[determiners[0]] in numbers[nouns[0]], str(phrase)
                checked += 1
    assert checked > 1000


def test_chinese_measure_words_match_their_nouns(corpora):
    measures = defaultdict(set)
    for noun in words(Noun):
        measures[noun.zh].add(noun.measure)
    checked = 0
    for example in corpora["zh-en"]["train"]:
        for phrase in example.source_tree.subtrees():
            leaves = [child for child in phrase.children if isinstance(child, Leaf)]
            classifiers = [leaf.token for leaf in leaves if leaf.label == "CLF"]
            nouns = [leaf.token for leaf in leaves if leaf.label == "NOUN"]
            if classifiers and nouns and nouns[-1] in measures:
                assert classifiers[0] in measures[nouns[-1]], str(phrase)
                checked += 1
    assert checked > 1500


def test_words_with_two_translations_are_told_apart_by_the_sentence(corpora):
    """*avocat* is a person or a fruit, *son* tells nothing of its owner, *il* may be a thing."""
    translations = defaultdict(set)
    for example in corpora["fr-en"]["train"]:
        for i, j in example.alignment:
            translations[example.source_tokens[i]].add(example.target_tokens[j])
    assert {"lawyer", "avocado"} <= translations["avocat"]
    assert {"his", "her"} <= translations["son"]
    assert {"he", "it"} <= translations["il"]


def test_every_french_verb_has_its_forms():
    forms = conjugations()
    assert {verb.fr for verb in words(Verb)} | {"être", "avoir"} == set(forms)
    assert all(len(verb.present) == len(verb.imperfect) == len(verb.future) == 6 for verb in forms.values())
    assert forms["manger"].form("imperfect", 3, False) == "mangeait"
    assert forms["appeler"].form("present", 1, True) == "appelons"


@pytest.mark.parametrize(
    ("participle", "gender", "plural", "form"),
    [
        ("vu", "f", True, "vues"),
        ("pris", "m", True, "pris"),
        ("dû", "f", False, "due"),
        ("dû", "m", False, "dû"),
    ],
)
def test_french_participles(participle, gender, plural, form):
    assert participle_form(participle, gender, plural) == form
