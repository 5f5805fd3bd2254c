"""The rules by which pairs are dropped: each by itself, by its language, and beside all others."""

import lzma
from functools import cache
from itertools import islice

import numpy as np
import pytest

from recurrent_mt.characters import normalize
from recurrent_mt.data.rules import (
    CORPUS_RULES,
    RECORD,
    SentencePair,
    find_duplicates,
    find_misaligned,
    is_other_language,
    pair_record,
    pair_rules,
    require_known,
)
from tests.data.tools import SHARED

HELD_OUT = (frozenset({"je suis là.", "我们在这里。"}), frozenset({"we are here.", "我们在这里。"}))
FR = "Les enfants jouent dans le jardin avec leur nouveau chien."
EN = "The children are playing in the garden with their new dog."
DE = "Die Kinder spielen jeden Tag im Garten mit ihrem neuen Hund, der noch sehr jung ist."
ZH = "孩子们和他们的新狗在花园里玩。"

# For each rule: pairs to keep, pairs to drop.
CASES = {
    "encoding": ([("?", "¿")], [("un \ufffd", "one"), ("un", "one\ufffd")]),
    "empty": ([(".", "!")], [("", "a"), ("a", ""), ("", "")]),
    "too long": ([("a " * 11 + "a", "a")], [("a " * 12 + "a", "a"), ("a", "a " * 13)]),
    "identical": ([("Paris", "Paris.")], [("Paris", "Paris"), ("VOTES", "Votes")]),
    "held out": ([("je suis", "we are")], [("Je suis là.", "a"), ("a", "WE ARE HERE.")]),
    "length ratio": (
        [("Merci.", "Thank you very much indeed!"), ("a " * 3, "a " * 13), ("x", "y")],
        [("a " * 3, "a " * 14), ("a " * 8, "a"), ("Fin", "This is a sentence about something.  Else entirely.")],
    ),
    "non-letters": (
        [
            ("1929 ou 1989 ?", "1929 or 1989?"),
            ("Article 5", "Article 5"),
            ("Rapport A5-0188/2001", "Report A5-0188/2001"),
        ],
        [("12 345 67,8 % 9", "twelve"), ("oui", "....."), ("1, 2, 4, 5, 6, 12, 15, 20 et 34.", "1, 2, 4, 5, 6, 12")],
    ),
    "markup": (
        [
            ("a < b et c > d", "a < b and c > d"),
            ("Voir www.example.org pour la suite.", "See www.example.org for more of it."),
            ("Écrivez à a@example.org dès demain", "Write to a@example.org tomorrow"),
            ("List<String> et <module>", "List<String> and <module>"),
        ],
        [
            ("<b>gras</b>", "bold"),
            ("clic", '<a href="x.html">click'),
            ("ligne<br/>ligne", "line line"),
            ("http://www.example.org/index.php?a=b ici", "here"),
            ("Contact : a.b@example.org", "someone.long@mail.example.org"),
        ],
    ),
    "wrong language": (
        [
            (FR, EN),
            ("Oui", "Yes"),
            ("Un motard effectuant une figure en l'air.", "A biker doing a trick in the air."),
            ("Question nº 5 de M. Gerard Collins (H-0526/02) :", "Question No 5 by Gerard Collins (H-0526/02):"),
            ("Régions d'Ústí nad Labem et de Liberec", "Pardubice and Hradec Kralove region"),
            ("VOTES", "EXPLANATIONS OF VOTE"),
        ],
        [(EN, EN), (FR, FR), (DE, EN), (FR, DE), (ZH, EN), (FR, ZH)],
    ),
}
CHINESE = {
    "too long": ([("我" * 19, "a")], [("我" * 20, "a")]),
    "held out": ([("我们在 那里 。", "a")], [("我们 在 这里 。", "a")]),
    "length ratio": (
        [("谢谢。", "Thank you very much."), ("我" * 16, "a " * 10)],
        [("我" * 18, "a " * 2), ("我", "a " * 9)],
    ),
    "non-letters": (
        [("1929年还是1989年?", "1929 or 1989?"), ("2008年12月31日", "31 December 2008")],
        [("1949。", "In 1949")],
    ),
    "markup": ([("通过www.350.org这个网站你可以查询", "At www.350.org you can find out")], []),
    "wrong language": (
        [
            (ZH, EN),
            ("他说「Python 3.11 supports this」。", EN),
            ("電話響了好幾次。", "It rang."),
            ("20年前", "20 years ago"),
            ("5：3", "5:3"),
        ],
        [
            (EN, EN),
            ("こどもたちは庭で新しい犬と遊んでいます。", EN),
            ("아이들이 정원에서 놀고 있다.", EN),
            (ZH, ZH),
            (ZH, FR),
        ],
    ),
}


@cache
def rules_of(source, target, *, language_check=True):
    """Not made when the module is imported, by every worker: languages take a second to load."""
    made = pair_rules((source, target), HELD_OUT, max_words=12, max_ratio=3.0, language_check=language_check)
    return {rule.name: rule for rule in made}


@pytest.mark.parametrize("name", CASES)
def test_each_rule_drops_what_it_should(name):
    assert set(CASES) == set(rules_of("fr", "en"))
    for expected, pairs in zip((False, True), CASES[name], strict=True):
        for pair in pairs:
            assert rules_of("fr", "en")[name](SentencePair(*pair, ("fr", "en"))) is expected, pair


@pytest.mark.parametrize("name", CHINESE)
def test_chinese_on_either_side(name):
    for expected, pairs in zip((False, True), CHINESE[name], strict=True):
        for source, target in pairs:
            assert rules_of("zh", "en")[name](SentencePair(source, target, ("zh", "en"))) is expected, source
            assert rules_of("en", "zh")[name](SentencePair(target, source, ("en", "zh"))) is expected, source


def test_a_language_that_cannot_be_told():
    with pytest.raises(ValueError, match="language 'haw' cannot be told from others: use --no-language-check"):
        rules_of("haw", "en")


def test_languages_that_those_who_tell_them_call_otherwise():
    hebrew, norwegian = "המשפט הזה נכתב כדי לבדוק את זיהוי השפה", "Dette er en lang norsk setning om ingenting."
    for language, text in (("he", hebrew), ("nb", norwegian)):
        require_known(language)
        assert not is_other_language(text, language)
        assert is_other_language(EN, language)


@pytest.mark.parametrize("language", ["pa_Arab", "pa_PK", "az_Arab", "ja_Latn"])
def test_a_language_in_another_script_than_its_usual_one_cannot_be_told(language):
    """CLD2 takes Punjabi in Arabic script for Urdu, and langid takes Azerbaijani in it for Persian."""
    with pytest.raises(ValueError, match=f"language '{language}' cannot be told from others"):
        require_known(language)


def test_serbian_is_told_in_both_scripts():
    serbian = "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima."
    require_known("sr_Latn")
    assert not is_other_language(serbian, "sr_Latn")
    assert is_other_language(EN, "sr_Latn") and is_other_language(ZH, "sr_Latn")


@pytest.mark.parametrize("word", ["a@" * 50_000, "a" * 100_000 + "@"])
def test_a_long_word_is_looked_at_once(word):
    """For each of its characters again, it would take a minute or more."""
    assert not rules_of("fr", "en")["markup"](SentencePair(word, "word", ("fr", "en")))


def test_without_language_check():
    assert list(rules_of("zho", "en", language_check=False)) == [name for name in CASES if name != "wrong language"]


def test_languages_whose_words_cannot_be_counted_have_no_rule_of_their_ratio():
    found = rules_of("ja", "en")
    assert list(found) == [name for name in CASES if name != "length ratio"]
    source, target = "これは普通の文で、長さは特に変わっていません。", "This is an ordinary sentence of no odd length."
    assert not any(rule(SentencePair(source, target, ("ja", "en"))) for rule in found.values())
    reason = "a side of more words than allowed"
    assert found["too long"].reason == f"{reason} (not of ja, whose words cannot be counted)"
    assert rules_of("zh", "en")["too long"].reason == reason


SETS = {
    "multi30k/train": ("fr", "en"),
    "europarl-v7-fr-en/train": ("fr", "en"),
    "wmt-fr-en/newstest2013": ("fr", "en"),
    "wmt-zh-en/newstest2017": ("zh", "en"),
    "zh-en-train/news-commentary-zh-en-10k/train": ("zh", "en"),
    "zh-en-train/tatoeba-zh-en/train": ("zh", "en"),
}


def some_lines(name, language, *, everywhere):
    """The first two thousand lines of a text, or four thousand from everywhere in it."""
    path = SHARED / f"{name}.{language}"
    with path.open("rb") if path.exists() else lzma.open(f"{path}.xz") as file:
        lines = list(file) if everywhere else list(islice(file, 2000))
    return [normalize(line.decode().rstrip("\n")) for line in lines[:: max(1, len(lines) // 4000)]]


@pytest.mark.parametrize("everywhere", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["first", "everywhere"])
@pytest.mark.parametrize("name", SETS)
def test_real_lines(name, everywhere):
    if not SHARED.exists():
        pytest.skip("needs ../shared/data")
    for language, other in (SETS[name], SETS[name][::-1]):
        lines = some_lines(name, language, everywhere=everywhere)
        assert sum(is_other_language(line, language) for line in lines) <= 0.0006 * len(lines), language
        # Short lines in one alphabet for another are let through; another script never is.
        found = sum(is_other_language(line, other) for line in lines) / len(lines)
        assert found > (0.85 if other == "fr" or language == "fr" else 0.99), (language, found)


MISALIGNED = CORPUS_RULES[0]


def make_records(hashes, source=None, target=None):
    records = np.zeros(len(hashes), RECORD)
    records["hash"] = hashes
    records["source"] = 1 if source is None else source
    records["target"] = 1 if target is None else target
    return records


def test_the_first_of_several_stays():
    hashes = np.random.default_rng(0).integers(0, 4000, 5000).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    seen, expected = set(), []
    for key in hashes.tolist():
        expected.append(key in seen)
        seen.add(key)
    assert find_duplicates(make_records(hashes)).tolist() == expected


def test_records_of_pairs():
    key, source, target = pair_record("L'été", "SUMMER")
    assert (source, target) == (7, 6)
    assert pair_record("l'ÉTÉ", "summer")[0] == key
    others = {pair_record(*pair)[0] for pair in (("été", "summer"), ("L'été ", "summer"), ("summer", "L'été"))}
    assert len(others | {key}) == 4


def test_spaces_in_chinese_make_no_other_pair():
    joined, apart = ("我们在这里。", "We are here."), ("我们 在 这里 。", "we are here.")
    for languages, turn in ((("zh", "en"), 1), (("en", "zh_TW"), -1)):
        same = [pair_record(*pair[::turn], languages)[0] for pair in (joined, apart)]
        assert same[0] == same[1]
        other = pair_record(*("我们在这里。", "We arehere.")[::turn], languages)[0]
        assert other != same[0]
    assert pair_record(*joined, ("ja", "en"))[0] != pair_record(*apart, ("ja", "en"))[0]


def lengths(pairs, seed=0):
    rng = np.random.default_rng(seed)
    source = rng.integers(20, 300, pairs)
    return source, np.maximum(1, (1.2 * source + rng.normal(0, 2.5, pairs) * np.sqrt(source)).round()).astype(int)


def test_deviations_are_those_that_made_the_lengths():
    source, target = lengths(20_000)
    target[::10] = 900  # a tenth is misaligned
    # At a ratio of 1.2 and a deviation of 2.5, the first is as expected, and the others are almost one deviation off.
    source[1:4], target[1:4] = 100, (120, 145, 95)
    records = make_records(np.arange(20_000), source, target)
    for deviations, dropped in {0.6: [False, True, True], 1.1: [False, False, False]}.items():
        assert find_misaligned(records, deviations, 1000)[1:4].tolist() == dropped


def test_misaligned_lines_are_found():
    source, target = lengths(3000)
    target[::100] = 12 * source[::100]
    found = MISALIGNED(make_records(np.arange(3000), source, target))
    assert np.flatnonzero(found).tolist() == list(range(0, 3000, 100))


def test_all_of_one_length():
    """Where all pairs have the very same ratio, none of them is dropped, and one far from it is."""
    target = np.full(2000, 50)
    target[3] = 300
    records = make_records(np.arange(2000), np.full(2000, 50), target)
    assert np.flatnonzero(MISALIGNED(records)).tolist() == [3]
    assert not MISALIGNED(records[:4]).any(), "so few tell no deviation"
