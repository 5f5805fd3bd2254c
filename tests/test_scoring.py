import pytest

pytest.importorskip("fairseq")

import sacrebleu
import torch
from fairseq.data import Dictionary
from fairseq.scoring import SCORER_REGISTRY, build_scorer
from fairseq.tasks.translation import TranslationConfig, TranslationTask
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


@pytest.mark.parametrize("metric", METRICS)
def test_an_unknown_word_is_one_wrong_word(metric):
    """fairseq writes <<unk>> in references; 13a makes five tokens of it, and three of an output's, which match."""
    references = ["the <<unk>> sees a <<unk>> dog .", "yes ."]
    expected = score(metric, ["the X sees a X dog .", "yes ."], ["the Y sees a Y dog .", "yes ."]).value
    scorer = build(f"text_{metric}")
    for reference in references:
        scorer.add_string(reference, reference.replace("<<unk>>", "<unk>"))
    assert scorer.score() == pytest.approx(expected)
    worthless = build(f"text_{metric}")
    for reference in references:
        worthless.add_string(reference, " ".join(["<unk>"] * len(reference.split())))
    assert worthless.score() == (100 if metric == "ter" else 0)


def test_options_of_a_scorer_reach_the_metric():
    scorer = build("text_bleu", scoring_lowercase=True, scoring_tokenize="char")
    scorer.add_string("ABC", "abc")
    assert "case:lc" in scorer.result_string()
    assert "tok:char" in scorer.result_string()


@pytest.mark.parametrize("metric", METRICS)
def test_an_unknown_tokenizer_is_refused_before_anything_is_translated(metric):
    with pytest.raises(ValueError, match="unknown tokenization 'zhh': sacrebleu has none, zh, 13a"):
        build(f"text_{metric}", scoring_tokenize="zhh")


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


HYPOTHESIS, REFERENCE = "我 喜 欢 黑 猫", "我 喜 欢 白 猫"


def validation_bleu(target_language, texts=(HYPOTHESIS, REFERENCE), **options):
    """What fairseq's own task says of one translation."""
    known = Dictionary()
    for symbol in dict.fromkeys(f"{HYPOTHESIS} {REFERENCE}".split()):
        known.add_symbol(symbol)
    hypothesis, reference = (known.encode_line(text, add_if_not_exist=False).long() for text in texts)
    task = TranslationTask(
        TranslationConfig(source_lang="en", target_lang=target_language, eval_bleu=True, **options), known, known
    )
    task.tokenizer = type("Joining", (), {"decode": staticmethod(lambda text: text.replace(" ", ""))})()
    task.inference_step = lambda *_, **__: [[{"tokens": hypothesis}]]
    return task._inference_with_bleu(None, {"target": torch.stack([reference])}, None)


@pytest.mark.parametrize(("language", "ngrams"), [("zh", 5), ("zho_Hant", 5), ("ja", 5), ("en", 1), ("src", 1)])
def test_the_target_language_chooses(language, ngrams):
    found = validation_bleu(language)
    assert found.totals[0] == ngrams
    assert sacrebleu.corpus_bleu(["我喜欢"], [["我喜欢"]]).totals[0] == 1, "what others call has changed"


@pytest.mark.parametrize("language", ["ja", "th", "zh", "ko"])
def test_unknown_words_do_not_match_in_validation(language):
    """fairseq's names for them, UNKNOWNTOKENINREF and UNKNOWNTOKENINHYP, share 14 of their characters."""
    found = validation_bleu(language, ("new other", "我 unseen 欢"))
    assert found.counts[0] == 0 and found.totals[0] == 2
    assert validation_bleu(language, ("我 new 欢", "我 unseen 欢")).counts[0] == 2


def test_tokenized_bleu_and_names_of_no_language_stay_as_they_are(caplog):
    assert validation_bleu("zh", eval_tokenized_bleu=True).totals[0] == 1
    assert not caplog.records
    assert validation_bleu("b").totals[0] == 1
    assert "--eval-bleu scores with sacrebleu's tokenization 13a: unknown language code 'b'" in caplog.text
