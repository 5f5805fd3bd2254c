"""An experiment of one's own is one new file. The slow tests of ablations and comparisons run such files to the end."""

import re

import pytest

from tests.cli.recipes import copy, experiment, needs_tools, write_corpus

pytestmark = needs_tools

MINE = """
pair: fr-en
segmentation: word:40
tokenizer: none
systems: [gru_encoder-additive, gru_encoder-none]
updates: 4
max_tokens: 300
embedding_size: 16
encoder_size: 16
decoder_size: 16
"""


@pytest.fixture
def mine(tmp_path):
    """A new file, and text for it."""
    write_corpus(tmp_path / "corpus")
    file = tmp_path / "mine.yaml"
    file.write_text(MINE)
    return file


def dry_run(file, test_set):
    corpus = file.parent / "corpus"
    tests = {"extra_tests": f"far={test_set / 'valid'}"}
    return experiment(file, "--dry-run", corpus=corpus, out=file.parent / "out", **tests)


def test_a_new_experiment_is_one_new_file(mine):
    said = dry_run(mine, mine.parent / "corpus")
    trainings = re.findall(r"recurrent-mt training trainings/(gru_encoder-\w+)-\w+/seed-1 fairseq-train", said)
    assert sorted(trainings) == ["gru_encoder-additive", "gru_encoder-none"]
    assert said.count("fairseq-preprocess ") == 2 and said.count("fairseq-generate ") == 4
    assert "recurrent-mt compare " in said and '--title "Translation report: mine, fr-en"' in said
    assert not (mine.parent / "out").exists()


def test_another_text_under_the_name_of_a_test_set_is_translated_to_another_place(mine, tmp_path):
    corpus = tmp_path / "corpus"
    changed = copy(corpus, tmp_path / "changed")
    (changed / "valid.fr").write_text((changed / "valid.fr").read_text().replace("chien", "chat"))
    first, second = (
        re.findall(r"mv (trainings/\S+/extra-far-\w+)\.search", dry_run(mine, text)) for text in (corpus, changed)
    )
    assert len(first) == len(second) == 2 and not set(first) & set(second)
