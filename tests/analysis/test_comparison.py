import json
import re

import pytest

from tests.analysis.logs import generate_log, train_log, write
from user_dir.analysis.comparison import References, as_json, as_markdown, as_text, read_system, table_rows
from user_dir.analysis.log_lines import LogError
from user_dir.metrics import score

HYPOTHESES = ["translation 0, 0", "translation 1, 0", "translation 2, 0"]
RAW = ["Translation 0, 0 and more words", "Translation 1, 0", "Translation 2, 0"]


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "train.log", train_log())
    write(tmp_path / "test.log", generate_log())
    write(tmp_path / "test.detokenized", HYPOTHESES)
    return tmp_path


def references(*, lowercase=False, tokenized=True):
    words = [text.lower().replace(",", " ,") for text in RAW] if tokenized else None
    return References(RAW, words, "en", lowercase)


def test_numbers_come_from_the_metric_and_the_logs(folder):
    system = read_system("ours", folder, references(lowercase=True))
    assert system.bleu == score("bleu", HYPOTHESES, RAW, lowercase=True)
    words = [text.replace(",", " ,") for text in HYPOTHESES]
    lowercase = {"tokenize": "none", "lowercase": True}
    assert system.tokenized_bleu == score("bleu", words, references().tokenized, **lowercase)
    assert (system.parameters, system.words_per_second, system.sentences_per_second) == (1234567, 600, 1.2)
    assert (system.updates, system.best_valid_loss, system.training_seconds) == (50, 4.25, 60)


def test_text(folder):
    systems = [read_system(name, folder, references()) for name in ("ours", "another one")]
    header, rule, first, second, _, *notes = as_text(systems).splitlines()
    assert re.split("  +", header) == table_rows(systems)[0]
    assert len(header) == len(rule) == len(first) == len(second)
    assert first.split() == ["ours", f"{systems[0].bleu.value:.2f}", f"{systems[0].tokenized_bleu.value:.2f}",
                             "1,234,567", "600", "1.2"]  # fmt: skip
    assert notes[0] == f"BLEU: {systems[0].bleu.signature}"
    assert "tok:none" in notes[1]


def test_markdown(folder):
    lines = as_markdown([read_system("ours", folder, references(tokenized=False))]).splitlines()
    assert lines[0] == "| System | BLEU | Parameters | Words/s, training | Sentences/s |"
    assert lines[1] == "| --- | ---: | ---: | ---: | ---: |"
    assert lines[2].startswith("| ours | ")
    assert lines[2].endswith(" | 1,234,567 | 600 | 1.2 |")


def test_json_is_unrounded(folder):
    system = read_system("ours", folder, references())
    (entry,) = json.loads(as_json([system]))
    assert entry["bleu"]["value"] == system.bleu.value
    assert entry["bleu"]["signature"] == system.bleu.signature


def test_what_is_not_known_is_a_dash(folder):
    write(folder / "train.log", train_log()[:3])
    write(folder / "test.log", [line for line in generate_log() if "Translated" not in line])
    system = read_system("ours", folder, references(tokenized=False))
    assert as_text([system]).splitlines()[2].split()[-1] == "–"


def test_a_missing_file_is_named(folder):
    (folder / "test.log").unlink()
    with pytest.raises(LogError, match=r"test\.log: there is no such file"):
        read_system("ours", folder, references())


def test_unequal_counts_are_named(folder):
    write(folder / "test.detokenized", HYPOTHESES[:2])
    with pytest.raises(ValueError, match="2 hypotheses for 3 references"):
        read_system("ours", folder, references())
