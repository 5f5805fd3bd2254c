"""recurrent-mt rate and ratings: what they refuse to write over."""

import pytest

from tests.commands import call
from tests.ratings.studies import export, key_of, make_corpus, make_study, write


@pytest.fixture
def rate(tmp_path):
    """A call of recurrent-mt rate on two systems."""
    corpus = make_corpus(2)
    for name, lines in {"source": corpus.source, **corpus.systems}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    systems = [f"--system={name}={tmp_path / name}" for name in corpus.systems]
    return lambda *options: call("rate", "--source", tmp_path / "source", *systems, "--sentences", 12, *options)


def test_the_key_of_another_page_stays(rate, tmp_path):
    out, key = tmp_path / "page.html", tmp_path / "page.html.key.json"
    assert rate("--out", out).returncode == 0
    first = out.read_bytes(), key.read_bytes()
    refused = rate("--out", out, "--seed", 2)
    assert refused.returncode == 1 and f"{key}: it is the key of another page" in refused.stderr
    assert (out.read_bytes(), key.read_bytes()) == first
    # The same call makes the same page.
    assert rate("--out", out).returncode == 0 and (out.read_bytes(), key.read_bytes()) == first


def test_texts_are_not_overwritten_by_a_page(rate, tmp_path):
    text = (tmp_path / "source").read_bytes()
    refused = rate("--out", tmp_path / "source")
    assert refused.stderr == f"error: {tmp_path}/source would be overwritten: choose another --out\n"
    assert (tmp_path / "source").read_bytes() == text and not (tmp_path / "source.key.json").exists()


def test_ratings_are_not_overwritten_by_what_they_say(tmp_path):
    study = make_study("direct", repeats=5, degraded=8)
    file = write(tmp_path / "anna.json", export(study, lambda item, scale: 50))
    given = file.read_bytes()
    key_of(study, tmp_path)
    (key,) = set(tmp_path.iterdir()) - {file}
    refused = call("ratings", file, "--key", key, "--out", tmp_path / "anna")
    assert refused.stderr == f"error: {file} would be overwritten: choose another --out\n"
    assert file.read_bytes() == given
