import unicodedata
from math import exp

import pytest

from recurrent_mt import metrics
from recurrent_mt.metrics import METRICS, score, sign_systems, statistics
from tests.metrics.sacrebleu_command import sacrebleu_command

HYPOTHESES = ["The cat sat on the mat.", "Two dogs run, fast!", "a house", "He said: “yes”."]
REFERENCES = ["The cat sat on the mat.", "Two dogs are running fast!", "The red house", "He said “yes”."]
CHINESE_HYPOTHESES = ["猫坐在垫子上。", "两只狗跑得很快！", "他说了3.5次“是”。"]
CHINESE_REFERENCES = ["猫坐在垫子上。", "两只狗在快跑！", "他说“是”3.5次。"]


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """What sacrebleu's command says of the metrics, without intervals and with them: one process for all of them."""

    def call(*options):
        folder = tmp_path_factory.mktemp("sacrebleu")
        found = sacrebleu_command(folder, [HYPOTHESES], REFERENCES, "-m", "bleu", "chrf", "ter", *options)
        return dict(zip(("bleu", "chrf", "ter"), found, strict=True))

    return {0: call(), 50: call("--confidence", "--confidence-n", "50")}


def require_equal(result, expected):
    assert (result.name, result.signature) == (expected["name"], expected["signature"])
    assert f"{result.value:.12f}" == f"{expected['score']:.12f}"
    assert result.details == expected.get("verbose_score", "")


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_scores_are_those_of_the_sacrebleu_command(command, name):
    require_equal(score(name, HYPOTHESES, REFERENCES), command[0][name])
    result, expected = score(name, HYPOTHESES, REFERENCES, resamples=50), command[50][name]
    require_equal(result, expected)
    # With numpy 2, sacrebleu computes these in single precision.
    assert result.interval.mean == pytest.approx(expected["confidence_mean"], rel=1e-5)
    assert result.interval.half_width == pytest.approx(expected["confidence_var"], rel=1e-5)
    assert result.interval.low < result.interval.mean < result.interval.high
    assert result == score(name, HYPOTHESES, REFERENCES, resamples=50, seed=12345)


@pytest.mark.parametrize(
    ("arguments", "options"), [({"lowercase": True}, ["-lc"]), ({"tokenize": "none"}, ["-tok", "none"])]
)
def test_bleu_of_other_words_is_that_of_the_sacrebleu_command(tmp_path, arguments, options):
    expected = sacrebleu_command(tmp_path, [HYPOTHESES], REFERENCES, "-m", "bleu", *options)
    require_equal(score("bleu", HYPOTHESES, REFERENCES, **arguments), expected)


def test_an_interval_has_no_score_that_cannot_be():
    hypotheses, references = ["a b c d e", *["x"] * 9], ["a b c d e"] * 10
    interval = score("bleu", hypotheses, references, resamples=1000).interval
    assert interval.mean - interval.half_width < 0 <= interval.low < interval.high <= 100


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("bleu", ["-m", "bleu", "-tok", "zh"]),
        ("ter", ["-m", "ter", "--ter-normalized", "--ter-asian-support"]),
    ],
)
def test_chinese_equals_the_sacrebleu_command(tmp_path, name, options):
    expected = sacrebleu_command(tmp_path, [CHINESE_HYPOTHESES], CHINESE_REFERENCES, *options)
    result = score(name, CHINESE_HYPOTHESES, CHINESE_REFERENCES, target_language="zh")
    assert result.signature == expected["signature"]
    assert f"{result.value:.12f}" == f"{expected['score']:.12f}"


def test_chinese_needs_its_tokenization():
    assert score("bleu", CHINESE_HYPOTHESES, CHINESE_REFERENCES, target_language="zh").value > 10
    assert score("bleu", CHINESE_HYPOTHESES, CHINESE_REFERENCES).value != pytest.approx(
        score("bleu", CHINESE_HYPOTHESES, CHINESE_REFERENCES, target_language="zh").value
    )


def meteor(matches, hypothesis_words, reference_words, chunks):
    """METEOR from counts, with the parameters of 2007."""
    precision, recall = matches / hypothesis_words, matches / reference_words
    return 100 * (1 - 0.5 * (chunks / matches) ** 3) * precision * recall / (0.9 * precision + 0.1 * recall)


# One perfect sentence of six words beside the corner case, so that n-grams of every order exist. By hand: with
# an empty hypothesis BLEU is the brevity penalty; with an empty reference it is the mean of the n-gram
# precisions, and chrF, which has no character to compare with, passes over the sentence.
CORNER_CASES = {
    "identical": (
        "the red house is big",
        "the red house is big",
        {"bleu": 100, "chrf": 100, "ter": 0, "meteor": meteor(11, 11, 11, 2)},
    ),
    "empty hypothesis": (
        "",
        "the red house is big",
        {"bleu": 100 * exp(1 - 11 / 6), "chrf": None, "ter": 45.454545, "meteor": meteor(6, 6, 11, 1)},
    ),
    "empty reference": (
        "the red house is big",
        "",
        {
            "bleu": 100 * (6 / 11 * 5 / 9 * 4 / 7 * 3 / 5) ** 0.25,
            "chrf": 100,
            "ter": 83.333333,
            "meteor": meteor(6, 11, 6, 1),
        },
    ),
    "both empty": ("", "", {"bleu": 100, "chrf": 100, "ter": 0, "meteor": meteor(6, 6, 6, 1)}),
    "one shift": (
        "big the red house is",
        "the red house is big",
        {"bleu": None, "chrf": None, "ter": 9.090909, "meteor": meteor(11, 11, 11, 3)},
    ),
}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(("hypothesis", "reference", "expected"), CORNER_CASES.values(), ids=CORNER_CASES)
def test_corner_cases_score_as_in_sacrebleu(hypothesis, reference, expected, name):
    other = "two small dogs run in parks"
    result = score(name, [other, hypothesis], [other, reference])
    if expected[name] is None:
        assert 0 < result.value < 100
    else:
        assert result.value == pytest.approx(expected[name], abs=1e-6)


LONG = " ".join(f"word{number}" for number in range(1500))

# The same alone. BLEU has no four-gram in fewer than four words, and then is zero.
SINGLE_SENTENCES = {
    "empty hypothesis": ("", "the red house is big", {"bleu": 0, "chrf": 0, "ter": 100, "meteor": 0}),
    "empty reference": ("the red house is big", "", {"bleu": 0, "chrf": 0, "ter": 100, "meteor": 0}),
    "both empty": ("", "", {"bleu": 0, "chrf": 0, "ter": 0, "meteor": 0}),
    "blank": (" \t", " ", {"bleu": 0, "chrf": 0, "ter": 0, "meteor": 0}),
    "one word": ("yes", "yes", {"bleu": 0, "chrf": 100, "ter": 0, "meteor": meteor(1, 1, 1, 1)}),
    "nothing shared": ("xyz", "abc def", {"bleu": 0, "chrf": 0, "ter": 100, "meteor": 0}),
    "very long": (LONG, LONG, {"bleu": 100, "chrf": 100, "ter": 0, "meteor": meteor(1500, 1500, 1500, 1)}),
    "much too long": (
        LONG,
        "word0 word1 word2 word3",
        {
            "bleu": 100 * (4 * 3 * 2 * 1 / (1500 * 1499 * 1498 * 1497)) ** 0.25,
            "chrf": None,
            "ter": 100 * 1496 / 4,
            "meteor": meteor(4, 1500, 4, 1),
        },
    ),
}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(("hypothesis", "reference", "expected"), SINGLE_SENTENCES.values(), ids=SINGLE_SENTENCES)
def test_one_sentence_is_scored_without_an_interval(hypothesis, reference, expected, name):
    result = score(name, [hypothesis], [reference], resamples=10)
    if expected[name] is None:
        assert 0 < result.value < 100
    else:
        assert result.value == pytest.approx(expected[name], abs=1e-6)
    assert result.interval is None
    assert "bs:" not in result.signature


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("end", ["\r\n", " "])
def test_a_line_end_is_not_text(name, end):
    expected = score(name, HYPOTHESES, REFERENCES)
    assert score(name, [text + end for text in HYPOTHESES], REFERENCES) == expected
    assert score(name, HYPOTHESES, [text + end for text in REFERENCES]) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rouge", ["a"], ["a"]), "unknown metric 'rouge': choose one of bleu, chrf, ter, meteor"),
        (("bleu", ["a", "b", "c"], ["a", "b"]), "3 hypotheses for 2 references"),
        (("bleu", [], []), "no sentences"),
    ],
)
def test_bad_input_is_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        score(*arguments)


def test_bad_options_of_a_metric_are_refused_by_name():
    with pytest.raises(ValueError, match="unknown tokenization 'klingon'"):
        score("bleu", ["a"], ["a"], tokenize="klingon")
    with pytest.raises(ValueError, match="resamples is 1"):
        score("bleu", ["a"], ["a"], resamples=1)


def test_a_sentence_that_is_not_a_string_is_named():
    with pytest.raises(TypeError, match="hypothesis 2 is NoneType"):
        score("ter", ["a", None], ["a", "b"])


def test_a_string_is_no_list_of_sentences():
    with pytest.raises(TypeError, match=r"hypothesis is one string, 'A string.': give a list of sentences"):
        score("bleu", "A string.", "A string.")
    with pytest.raises(TypeError, match="reference is one string"):
        score("bleu", ["A string."], "A string.")


def test_a_score_prints_its_signature_and_its_interval():
    result = score("bleu", HYPOTHESES, REFERENCES, resamples=10)
    assert str(result).startswith("BLEU|nrefs:1|bs:10|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert f"= {result.value:.2f} (μ = {result.interval.mean:.2f} ± {result.interval.half_width:.2f})" in str(result)


@pytest.mark.parametrize(
    ("language", "installed", "tokenization"),
    [
        *(("zh", False, "zh"), ("zh_TW", False, "zh"), ("zh-CN", False, "zh"), ("en_US", True, "13a")),
        *(("ja", True, "ja-mecab"), ("ko_KR", True, "ko-mecab"), ("ja", False, "char"), ("ko", False, "char")),
        *(("th", False, "char"), ("kor_Hang", True, "ko-mecab"), ("jpn_Hira", False, "char")),
        *(("ja_Latn", True, "13a"), ("ja_Latn", False, "13a"), ("ko_Latn", True, "13a")),
    ],
)
def test_a_language_has_its_tokenization_however_its_code_continues(language, installed, tokenization, monkeypatch):
    monkeypatch.setattr(metrics, "find_spec", lambda name: installed or None)
    assert (metrics.choose_tokenization(language) or "13a") == tokenization


def test_a_chinese_text_has_the_same_scores_and_words_whatever_its_country():
    hypotheses, references = ["我喜欢猫。"], ["我喜欢狗。"]
    for name in ("bleu", "ter"):
        plain, taiwan = (score(name, hypotheses, references, target_language=code) for code in ("zh", "zh_TW"))
        assert plain == taiwan
    assert metrics.split_words(hypotheses, "zh_TW") == [["我", "喜", "欢", "猫", "。"]]


def test_the_same_text_in_another_normal_form_scores_the_same_and_the_signature_says_so():
    composed, invisible = "Cet été, la forêt où l’on a dormi", "Cet été, la for\u00adêt où l’on a dor\u200bmi"
    decomposed = unicodedata.normalize("NFD", composed)
    for name in ("bleu", "chrf", "ter", "meteor"):
        expected = score(name, [composed], [composed])
        assert "text:" not in expected.signature
        for hypothesis, reference in ((composed, decomposed), (decomposed, composed), (composed, invisible)):
            found = score(name, [hypothesis], [reference])
            assert found.value == expected.value
            assert "|text:normalized|" in found.signature
    spaces = score("bleu", [composed], [f"  {composed.replace(' ', chr(0xA0))} "])
    assert (spaces.value, spaces.signature) == (pytest.approx(100), score("bleu", [composed], [composed]).signature)
    counts = [statistics("bleu", [text] * 2, [composed] * 2) for text in (composed, decomposed)]
    assert "|text:normalized|" in sign_systems(counts)


@pytest.mark.parametrize("language", ["tr", "az", "crh_Latn", "gag", "kk_Latn", "tat_Latn"])
def test_turkish_case_is_ignored_as_turkish_has_it(language):
    sides = ["İSTANBUL IŞIK güzel bir şehir"], ["istanbul ışık güzel bir şehir"]
    assert score("bleu", *sides, target_language=language, lowercase=True).value == pytest.approx(100)
    assert score("bleu", *sides, lowercase=True).value < 50


def test_romanized_japanese_has_words():
    """Its words are between spaces; letters for words would give other scores."""
    hypothesis, reference = ["kare wa neko ga suki da to omoimasu"], ["kanojo wa neko ga suki desu to iimashita"]
    romanized = score("bleu", hypothesis, reference, target_language="ja_Latn")
    assert romanized == score("bleu", hypothesis, reference) != score("bleu", hypothesis, reference, tokenize="char")
    assert metrics.split_words(hypothesis, "ja_Latn") == [hypothesis[0].split()]
