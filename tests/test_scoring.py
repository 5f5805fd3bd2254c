import pytest

pytest.importorskip("fairseq")

from fairseq.scoring import SCORER_REGISTRY, build_scorer
from omegaconf import OmegaConf

from recurrent_mt.metrics import METRICS, score
from user_dir.scoring import TextScorerConfig


def build(name, **options):
    return build_scorer(OmegaConf.create({**vars(TextScorerConfig()), **options, "_name": name}), None)


@pytest.mark.parametrize("metric", METRICS)
def test_a_scorer_gives_the_metrics_number_and_signature(metric):
    scorer = build(f"text_{metric}")
    for reference, hypothesis in [("The red house is big.", "The red house was big."), ("Yes.", "Yes.")]:
        scorer.add_string(reference, hypothesis)
    expected = score(metric, ["The red house was big.", "Yes."], ["The red house is big.", "Yes."])
    assert scorer.score() == expected.value
    assert scorer.result_string() == str(expected)


def test_options_of_a_scorer_reach_the_metric():
    scorer = build("text_bleu", scoring_lowercase=True, scoring_tokenize="char")
    scorer.add_string("ABC", "abc")
    assert "case:lc" in scorer.result_string()
    assert "tok:char" in scorer.result_string()


@pytest.mark.parametrize("metric", METRICS)
def test_chinese_is_scored_with_its_tokenization(metric):
    scorer = build(f"text_{metric}", scoring_tokenize="zh")
    scorer.add_string("两只狗在快跑！", "两只狗跑得很快！")
    assert scorer.score() == score(metric, ["两只狗跑得很快！"], ["两只狗在快跑！"], target_language="zh").value


def test_names_of_fairseq_are_left_alone():
    assert SCORER_REGISTRY["bleu"].__module__ == "fairseq.scoring.bleu"
    assert SCORER_REGISTRY["chrf"].__module__ == "fairseq.scoring.chrf"
    assert SCORER_REGISTRY["meteor"].__module__ == "fairseq.scoring.meteor"
    assert SCORER_REGISTRY["ter"].metric_name == "ter"


@pytest.mark.parametrize(
    ("reference", "named"),
    [
        ("两只狗在快跑！A", "zh"),
        ("二匹の犬が走っています。", "char"),
        ("สุนัขสองตัว", "char"),
        ("Dogs run in 中国.", None),
    ],
)
def test_text_without_spaces_is_not_scored_by_13a_without_a_word(reference, named, caplog):
    scorer = build("text_bleu")
    scorer.add_string(reference, reference)
    scorer.score()
    assert (f"--scoring-tokenize {named} would" in caplog.text) if named else not caplog.records
    caplog.clear()
    scorer = build("text_bleu", scoring_tokenize="13a")
    scorer.add_string(reference, reference)
    scorer.score()
    assert not caplog.records
