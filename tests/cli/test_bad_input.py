"""Bad corpora and calls are refused before anything is computed, in a sentence that names the problem.

Bad values of options are in tests/runs/test_options.py.
"""

import pytest

from tests.cli.recipes import command, copy, experiment, needs_tools, run, write_corpus

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


def test_a_missing_file_of_a_further_test_set_is_refused_by_name(corpus):
    assert "missing.fr: there is no such file" in refuse(corpus, extra_tests="far=missing")


def test_an_empty_line_in_the_test_set_is_refused_by_number(corpus):
    edit(corpus / "test.en", lambda lines: [*lines[:3], " \n", *lines[4:6], "\n", *lines[7:]])
    assert f"{corpus}/test.en: 2 empty line(s), the first is line 4: remove or fill" in refuse(corpus)


def test_a_comparison_without_a_corpus_is_refused(tmp_path):
    for given in ([], ["corpus=", "pair=fr-en"]):
        said = run(command("compare_baselines.sh", *given, out=tmp_path / "run"), succeeds=False)
        assert "corpus=DIR is required" in said, given


def test_an_empty_run_folder_is_refused():
    assert "error: out is empty: name a folder" in experiment("quickstart.yaml", "out=", succeeds=False)
