"""Bad corpora and options are refused before anything is computed, in a sentence that names the problem."""

import pytest

from tests.cli.recipes import command, copy, run, write_corpus


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("bad-input") / "corpus")


@pytest.fixture
def corpus(good, tmp_path):
    return copy(good, tmp_path / "corpus")


def refuse(corpus, *arguments):
    out = corpus.parent / "run"
    message = run(command("compare_baselines.sh", *arguments, corpus=corpus, pair="fr-en", out=out), succeeds=False)
    assert not out.exists()
    return message


def edit(path, change):
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(change(lines)), encoding="utf-8")


def test_sides_of_different_length_are_refused_with_both_counts(corpus):
    edit(corpus / "train.en", lambda lines: lines[:-2])
    message = refuse(corpus)
    assert f"{corpus}/train.fr has 120 lines and {corpus}/train.en has 118" in message


def test_a_missing_file_is_refused_by_name(corpus):
    (corpus / "valid.en").unlink()
    assert f"there is no file {corpus}/valid.en" in refuse(corpus)


def test_an_empty_file_is_refused_by_name(corpus):
    (corpus / "test.fr").write_text("")
    assert f"{corpus}/test.fr is empty" in refuse(corpus)


def test_an_empty_line_in_the_test_set_is_refused_by_number(corpus):
    edit(corpus / "test.en", lambda lines: [*lines[:3], " \n", *lines[4:6], "\n", *lines[7:]])
    assert f"{corpus}/test.en has 2 empty line(s), the first is line 4: remove or fill" in refuse(corpus)


def test_a_sentence_over_the_position_limit_is_refused_by_line(corpus):
    edit(corpus / "test.fr", lambda lines: [*lines[:3], "très " * 1024 + "\n", *lines[4:]])
    line = command("compare_baselines.sh", corpus=corpus, pair="fr-en", out=corpus.parent / "run")
    message = run([*line, "--segmentation", "word:99", "--tokenizer", "none"], succeeds=False)
    assert "test.fr line 4 has 1024 tokens, more than the 1023 allowed" in message
    assert not (corpus.parent / "run" / "text" / "prepared").exists()


def test_text_that_is_not_utf_8_is_refused_by_file(corpus):
    (corpus / "train.fr").write_text("été\n" * 120, encoding="latin-1")
    assert f"{corpus}/train.fr is not UTF-8" in refuse(corpus)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--models", "lstm,gru_encoder-loud"],
            "unknown model 'gru_encoder-loud': choose lstm, fconv, transformer, gru_encoder or grconv_encoder",
        ),
        (["--segmentation", "syllables:9"], "must be word:N, bpe:N, or sentencepiece:N, not 'syllables:9'"),
        (["--bpe-merges", "many"], "must be word:N, bpe:N, or sentencepiece:N, not 'bpe:many'"),
        (["--tokenizer", "jieba"], "--tokenizer must be moses or none, not 'jieba'"),
        (["--epochs", "0"], "--epochs must be a whole number above zero, not '0'"),
        (["--minutes", "0.0"], "--minutes must be a number above zero, not '0.0'"),
        (["--learning-rates", "1e-3,fast"], "--learning-rates must be numbers separated by commas, not '1e-3,fast'"),
        (["--warmup", "0"], "--warmup must be a whole number above zero, not '0'"),
        (["--jobs", "0"], "--jobs must be a whole number above zero, not '0'"),
        (["--baseline", "fconv"], "--baseline fconv is not among --models lstm,gru_encoder-additive"),
        (["--extra-test", "news"], "--extra-test must be NAME=PREFIX, several separated by commas, not 'news'"),
        (["--extra-test", "a=x,a=y"], "--extra-test has a name twice: a a"),
        (["--extra-test", "a=missing"], "there is no file missing.fr"),
        (["--max-tokens", "-5"], "--max-tokens must be a whole number above zero, not '-5'"),
        (["--dropout", "1.5"], "--dropout must be a number from 0 to below 1, not '1.5'"),
        (["--seeds", "1;2"], "--seeds must be whole numbers separated by commas, not '1;2'"),
        (["--target-lang", "fr"], "source and target language are both fr"),
        (["--source-lang", "ja"], "text without spaces needs --segmentation sentencepiece:N"),
        (["--speed", "9"], "option --speed is unknown"),
        (["--beam"], "option --beam is unknown or needs a value"),
        (["now"], "'now' is not an option"),
    ],
)
def test_bad_options_of_a_comparison_are_refused_by_name(good, tmp_path, arguments, message):
    line = command("compare_baselines.sh", "--corpus", good, "--pair", "fr-en", "--out", tmp_path / "run")
    assert message in run([*line, *arguments], succeeds=False)


def test_a_folder_that_holds_something_else_is_refused(good, tmp_path):
    (tmp_path / "thesis.txt").write_text("chapter one")
    line = command("compare_baselines.sh", corpus=good, pair="fr-en", out=tmp_path)
    assert f"{tmp_path} is not empty and is not a run folder" in run(line, succeeds=False)


def test_a_pair_that_the_synthetic_corpus_lacks_is_refused(tmp_path):
    line = command("quickstart.sh", pair="de-en", out=tmp_path / "run")
    assert "the synthetic corpus has the pairs fr-en and zh-en, not de-en" in run(line, succeeds=False)


@pytest.mark.parametrize("script", ["quickstart.sh", "compare_baselines.sh"])
def test_help_of_a_recipe_shows_its_call_and_the_shared_options(script):
    text = run(command(script, "--help"))
    assert f"bash scripts/{script}" in text
    assert "--segmentation" in text
    assert "shellcheck" not in text
