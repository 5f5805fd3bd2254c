"""Each rule, with pairs that it must keep and drop."""

import pytest

from recurrent_mt.data.rules import SentencePair, pair_rules

HELD_OUT = (frozenset({"je suis là."}), frozenset({"we are here."}))
RULES = {
    languages: {
        rule.name: rule for rule in pair_rules(languages, HELD_OUT, max_words=12, max_ratio=3.0, language_check=True)
    }
    for languages in (("fr", "en"), ("zh", "en"), ("en", "zh"))
}
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


def test_every_rule_has_cases():
    assert set(CASES) == set(RULES["fr", "en"])


@pytest.mark.parametrize("name", CASES)
def test_french(name):
    keep, drop = CASES[name]
    rule = RULES["fr", "en"][name]
    for pair in keep:
        assert not rule(SentencePair(*pair, ("fr", "en"))), pair
    for pair in drop:
        assert rule(SentencePair(*pair, ("fr", "en"))), pair


@pytest.mark.parametrize("name", CHINESE)
def test_chinese_on_either_side(name):
    for expected, pairs in zip((False, True), CHINESE[name], strict=True):
        for source, target in pairs:
            assert RULES["zh", "en"][name](SentencePair(source, target, ("zh", "en"))) is expected, source
            assert RULES["en", "zh"][name](SentencePair(target, source, ("en", "zh"))) is expected, source


def test_a_language_that_cannot_be_told():
    with pytest.raises(ValueError, match="language 'haw' cannot be told from others: use --no-language-check"):
        pair_rules(("haw", "en"), HELD_OUT, max_words=9, max_ratio=3.0, language_check=True)


def test_without_language_check():
    rules = pair_rules(("zho", "en"), HELD_OUT, max_words=9, max_ratio=3.0, language_check=False)
    assert [rule.name for rule in rules] == [name for name in CASES if name != "wrong language"]
