"""The box `fr-en` translates newstest2013 with the BLEU that its cards give."""

import re
import subprocess

import pytest
import sacrebleu

from recurrent_mt.translation.box import PARAMETERS, list_boxes
from tests.commands import REPOSITORY, command_line
from tests.data.tools import SHARED

PAGE = REPOSITORY / "pretrained" / "fr-en" / "README.md"
TEST = SHARED / "wmt-fr-en" / "newstest2013"


def translate(tmp_path, *arguments):
    out = tmp_path / "newstest2013.en"
    with open(f"{TEST}.fr", "rb") as source, open(out, "wb") as target:
        subprocess.run(command_line("recurrent-mt", *arguments), stdin=source, stdout=target, check=True)
    hypotheses, references = (path.read_text().splitlines() for path in (out, TEST.with_suffix(".en")))
    return round(sacrebleu.corpus_bleu(hypotheses, [references]).score, 1)


def on_card(text):
    return float(re.search(r"^\| BLEU, newstest2013 \| ([0-9.]+) \|$", text, re.MULTILINE)[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gru", "grconv", "rnnenc"])
def test_newstest2013_has_the_bleu_of_the_card(name, tmp_path):
    if not TEST.with_suffix(".fr").exists():
        pytest.skip("needs ../shared/data")
    checkpoint = list_boxes()["fr-en"] / PARAMETERS.format(name, 1)
    card = checkpoint.parents[2] / "card.md"
    assert translate(tmp_path, "translate", "fr-en", str(checkpoint)) == on_card(card.read_text())


@pytest.mark.slow
def test_the_onnx_model_has_the_bleu_of_the_boxs_page(tmp_path):
    if not TEST.with_suffix(".fr").exists():
        pytest.skip("needs ../shared/data")
    said = re.search(r"^\| gru, as ONNX in eight bits \|  \|  \| ([0-9.]+) \|", PAGE.read_text(), re.MULTILINE)
    assert translate(tmp_path, "translate", "fr-en", "onnx") == float(said[1])
