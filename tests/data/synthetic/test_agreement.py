"""Agreement derived anew from the trees and the tables of words, not from the code that made it."""

from collections import defaultdict
from itertools import pairwise

import pytest

from recurrent_mt.data.synthetic import Leaf
from recurrent_mt.data.synthetic.lexicon import words
from recurrent_mt.data.synthetic.meaning import Adjective, Noun

ANY = {(gender, plural) for gender in "mf" for plural in (False, True)}
SINGULAR, PLURAL = frozenset({("m", False), ("f", False)}), frozenset({("m", True), ("f", True)})
FRENCH = {
    **dict.fromkeys(("le", "un", "ce", "cet", "du", "au"), frozenset({("m", False)})),
    **dict.fromkeys(("la", "une", "cette"), frozenset({("f", False)})),
    **dict.fromkeys(("notre", "votre", "leur", "l'"), SINGULAR),
    **dict.fromkeys(("les", "des", "aux", "ces", "mes", "tes", "ses", "nos", "vos", "leurs", "plusieurs"), PLURAL),
    **dict.fromkeys(("deux", "trois", "quatre", "cinq", "six", "sept"), PLURAL),
}
ENGLISH = {
    **dict.fromkeys(("a", "an", "this"), SINGULAR),
    **dict.fromkeys(("these", "several", "many", "two", "three", "four", "five", "six", "seven"), PLURAL),
}


@pytest.fixture(scope="module")
def french():
    """What each form of a French noun or adjective, and each determiner, can be: sets of (gender, plural)."""
    forms = defaultdict(frozenset, FRENCH)
    for noun in words(Noun):
        forms[noun.fr] |= {(noun.gender, False)}
        forms[noun.fr_plural] |= {(noun.gender, True)}
    for word in words(Adjective):
        for form, gender, plural in ((word.fr, "m", False), (word.plural, "m", True), (word.feminine, "f", False)):
            forms[form] |= {(gender, plural)}
        forms[word.feminine + "s"] |= {("f", True)}
    return forms


@pytest.fixture(scope="module")
def english():
    """The same for English nouns, and determiners: of any gender."""
    forms = defaultdict(frozenset, ENGLISH)
    for noun in words(Noun):
        forms[noun.en] |= SINGULAR
        forms[noun.en_plural] |= PLURAL
    return forms


def nouns_of(phrase):
    return [child.token for child in phrase.children if isinstance(child, Leaf) and child.label == "NOUN"]


def words_that_agree(phrase):
    """Determiner, noun and adjective of a noun phrase; none if it has no noun of its own."""
    if phrase.label != "NP" or len(nouns_of(phrase)) != 1:
        return []
    found = []
    for child in phrase.children:
        if isinstance(child, Leaf) and child.label in ("DET", "NUM", "NOUN", "ADP"):
            found.append(child.token)
        elif child.label == "AP":
            found += [leaf.token for leaf in child.leaves() if leaf.token.islower()]  # *Malvian* is a noun, too
    return found


def agrees(phrase, forms):
    return bool(ANY.intersection(*(forms.get(word, ANY) for word in words_that_agree(phrase))))


def phrases(tree):
    yield tree
    for child in tree.children:
        if not isinstance(child, Leaf):
            yield from phrases(child)


def count_agreeing(trees, forms):
    """Asserts that all noun phrases agree, but those of time expressions, whose nouns are not in the table."""
    checked = 0
    for tree in trees:
        for phrase in phrases(tree):
            if all(noun in forms for noun in nouns_of(phrase)):
                assert agrees(phrase, forms), str(phrase)
                checked += len(words_that_agree(phrase)) > 1
    return checked


def test_noun_phrases_agree(corpora, french, english):
    train = corpora["fr-en"]["train"]
    assert count_agreeing((example.source_tree for example in train), french) > 3000
    assert count_agreeing((example.target_tree for example in train), english) > 3000


def test_french_elides_before_vowels(corpora):
    """No *le*, *ne* or *que* is left before a vowel; *l'*, *n'* and *qu'* stand before a vowel or h."""
    vowels = "aeiouyàâéèêëîïôœùûhAEIOUYÉÈÎH"
    elided = 0
    for example in corpora["fr-en"]["train"]:
        for word, following in pairwise(example.source_tokens):
            if word.endswith("'"):
                assert following[0] in vowels, (word, following)
                elided += 1
            if word in ("le", "la", "ne", "de", "que", "je", "me", "te", "ce", "ma", "ta", "sa"):
                assert following[0] not in vowels, (word, following)
    assert elided > 700


def test_french_contracts_prepositions_with_articles(corpora):
    for example in corpora["fr-en"]["train"]:
        tagged = [(leaf.label, leaf.token) for leaf in example.source_tree.leaves()]
        for (label, token), following in pairwise(tagged):
            assert not (label == "ADP" and token in ("de", "à") and following in (("DET", "le"), ("DET", "les")))
