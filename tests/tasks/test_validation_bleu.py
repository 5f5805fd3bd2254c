"""``--eval-bleu`` of any translation task tokenizes as the target language needs."""

import pytest
import sacrebleu
import torch
from fairseq.data import Dictionary
from fairseq.tasks.translation import TranslationConfig, TranslationTask

import user_dir  # noqa: F401

HYPOTHESIS, REFERENCE = "我 喜 欢 黑 猫", "我 喜 欢 白 猫"


def validation_bleu(target_language, **options):
    """What fairseq's own task says of one translation."""
    known = Dictionary()
    for symbol in dict.fromkeys(f"{HYPOTHESIS} {REFERENCE}".split()):
        known.add_symbol(symbol)
    hypothesis, reference = (known.encode_line(text, add_if_not_exist=False).long() for text in (HYPOTHESIS, REFERENCE))
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


def test_tokenized_bleu_and_names_of_no_language_stay_as_they_are(caplog):
    assert validation_bleu("zh", eval_tokenized_bleu=True).totals[0] == 1
    assert not caplog.records
    assert validation_bleu("b").totals[0] == 1
    assert "--eval-bleu scores with sacrebleu's tokenization 13a: unknown language code 'b'" in caplog.text
