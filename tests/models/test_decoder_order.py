"""Checkpoints and commands that use the former names of the decoder orders."""

import math
from pathlib import Path

import pytest
import torch

from tests.models.building import build, sample
from user_dir.models import GRUEncoderModel

#: Trained before `--decoder-order word_first` was the default, without the option: translations with scores in bits a
#: token, as fairseq-generate printed them then.
BEFORE = Path(__file__).parent / "before_word_first"


@pytest.fixture(scope="module")
def before():
    """The checkpoint as PyTorch's hub gives it, which is how fairseq loads one in Python."""
    languages = {"source_lang": "src", "target_lang": "tgt"}
    return GRUEncoderModel.from_pretrained(str(BEFORE), "checkpoint.pt", str(BEFORE), **languages)


def test_an_old_checkpoint_translates_as_before(before):
    lines = (BEFORE / "translations.tsv").read_text().splitlines()
    assert len(lines) == 6
    for source, translation, score in (line.split("\t") for line in lines):
        best = before.generate(before.encode(source), beam=3)[0]
        assert before.decode(best["tokens"]) == translation
        assert best["score"].item() / math.log(2) == pytest.approx(float(score), abs=1e-5)


def test_an_old_checkpoint_keeps_its_order(before):
    assert str(before.cfg.model.decoder_order) == "update_first"
    assert not before.models[0].decoder.layer.word_first


def test_new_models_have_the_word_first():
    assert build("gru_encoder").decoder.layer.word_first


@pytest.mark.parametrize(("name", "former"), [("word_first", "score_first"), ("attention_first", "update_first")])
def test_a_former_name_means_the_same(name, former):
    batch = sample([3, 5], [4, 2])["net_input"]
    now, once = (build("gru_encoder", decoder_order=order).eval()(**batch)[0] for order in (name, former))
    torch.testing.assert_close(now, once, rtol=0, atol=0)


def test_a_begin_symbol_that_would_not_be_read_is_refused():
    batch = sample([3, 5], [4, 2])["net_input"]
    previous = batch["prev_output_tokens"]
    previous[1, 0] = 7
    previous[1] = previous[1].roll(2)
    reads = build("gru_encoder", decoder_order="attention_first")
    reads(**batch)
    symbol = reads.decoder.dictionary[7]
    with pytest.raises(
        ValueError, match=f"targets begin with {symbol}, not </s>: only --decoder-order attention_first"
    ):
        build("gru_encoder")(**batch)
