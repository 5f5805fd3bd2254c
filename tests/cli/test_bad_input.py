"""Bad corpora and calls are refused before anything is computed, in a sentence that names the problem.

Bad values of options are in tests/runs/test_options.py.
"""

import pytest

from tests.cli.recipes import TINY, command, copy, experiment, needs_tools, read_table, run, write_corpus

pytestmark = needs_tools


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("bad-input") / "corpus")


@pytest.fixture
def corpus(good, tmp_path):
    return copy(good, tmp_path / "corpus")


def refuse(corpus, **options):
    out = corpus.parent / "run"
    message = experiment("comparison.yaml", succeeds=False, corpus=corpus, out=out, **options)
    assert not out.exists()
    return message


def edit(path, change):
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(change(lines)), encoding="utf-8")


def test_sides_of_different_length_are_refused_with_both_counts(corpus):
    edit(corpus / "train.en", lambda lines: lines[:-2])
    message = refuse(corpus)
    assert f"{corpus}/train.fr: it has 120 lines and {corpus}/train.en has 118" in message


def test_a_missing_file_is_refused_by_name(corpus):
    (corpus / "valid.en").unlink()
    assert f"{corpus}/valid.en: there is no such file" in refuse(corpus)


def test_a_missing_file_of_a_further_test_set_is_refused_by_name(corpus):
    assert "missing.fr: there is no such file" in refuse(corpus, extra_tests="far=missing")


def test_an_empty_file_is_refused_by_name(corpus):
    (corpus / "test.fr").write_text("")
    assert f"{corpus}/test.fr: it is empty" in refuse(corpus)


def test_an_empty_line_in_the_test_set_is_refused_by_number(corpus):
    edit(corpus / "test.en", lambda lines: [*lines[:3], " \n", *lines[4:6], "\n", *lines[7:]])
    assert f"{corpus}/test.en: 2 empty line(s), the first is line 4: remove or fill" in refuse(corpus)


def test_a_sentence_over_the_position_limit_is_refused_by_line(corpus):
    edit(corpus / "test.fr", lambda lines: [*lines[:3], "très " * 1024 + "\n", *lines[4:]])
    out = corpus.parent / "run"
    options = {"corpus": corpus, "segmentation": "word:99", "tokenizer": "none", "out": out}
    message = experiment("comparison.yaml", succeeds=False, systems="lstm,transformer", **options)
    assert "line 4" in message and "1024 tokens" in message
    assert not list(out.glob("corpora/*/data"))


@pytest.mark.slow
def test_recurrent_systems_translate_a_sentence_over_the_position_limit(corpus):
    edit(corpus / "test.fr", lambda lines: [*lines[:3], "rouge " * 2001 + "\n", *lines[4:]])
    out = corpus.parent / "run"
    options = {"corpus": corpus, "segmentation": "word:99", "tokenizer": "none", "out": out, **TINY}
    experiment("comparison.yaml", systems="lstm,gru_encoder-none", **options)
    assert len(read_table(out)) > 0


def test_text_that_is_not_utf_8_is_refused_by_file(corpus):
    (corpus / "train.fr").write_text("été\n" * 120, encoding="latin-1")
    assert f"{corpus}/train.fr, line 1: byte 1 is not UTF-8" in refuse(corpus)


def test_an_unknown_system_is_refused_with_those_that_there_are(good, tmp_path):
    options = {"corpus": good, "pair": "fr-en", "systems": "gru_encoder-loud", "out": tmp_path / "run"}
    message = experiment("comparison.yaml", succeeds=False, **options)
    assert "unknown system 'gru_encoder-loud': choose lstm, fconv, transformer, one of grconv_encoder, " in message


def test_a_comparison_without_a_corpus_is_refused(tmp_path):
    for given in ([], ["corpus="], ["corpus=", "pair=fr-en"]):
        said = run(command("compare_baselines.sh", *given, out=tmp_path / "run"), succeeds=False)
        assert "corpus=DIR is required" in said, given


def test_an_empty_run_folder_is_refused():
    assert "error: out is empty: name a folder" in experiment("quickstart.yaml", "out=", succeeds=False)


def test_a_folder_that_holds_something_else_is_refused(good, tmp_path):
    (tmp_path / "thesis.txt").write_text("chapter one")
    message = experiment("comparison.yaml", succeeds=False, corpus=good, out=tmp_path)
    assert f"{tmp_path} is not empty, and no run folder of this project" in message
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_pair_that_the_synthetic_corpus_lacks_is_refused(tmp_path):
    message = experiment("quickstart.yaml", succeeds=False, pair="de-en", out=tmp_path / "run")
    assert "the synthetic corpus has the pairs fr-en and zh-en, not de-en" in message


def test_help_of_a_recipe_shows_its_call_and_the_shared_options():
    text = run(command("compare_baselines.sh", "--help"))
    assert "bash scripts/compare_baselines.sh" in text and "segmentation" in text and "shellcheck" not in text
