import pytest

from recurrent_mt.data.synthetic.writing import write_corpus
from tests.commands import call

SMALL = ["--train", "150", "--valid", "20", "--test", "20"]


def make_corpus(out, *options):
    return call("synthetic-corpus", "--out", out, *options)


def test_files(tmp_path):
    out = tmp_path / "new" / "corpus"
    assert make_corpus(out, *SMALL).stdout == f"{out}: made\n"
    endings = ["src", "tgt", "fr", "en", "fr.ptb", "en.ptb", "fr-en.align"]
    names = {f"{split}.{ending}" for split in ("train", "valid", "test") for ending in endings}
    assert {path.name for path in out.iterdir()} == names | {"settings.json"}
    for split, size in (("train", 150), ("valid", 20), ("test", 20)):
        lines = {ending: (out / f"{split}.{ending}").read_text(encoding="utf-8").split("\n") for ending in endings}
        assert {len(content) for content in lines.values()} == {size + 1}
        for source, target, links in zip(lines["src"], lines["tgt"], lines["fr-en.align"], strict=True):
            for link in links.split():
                i, j = map(int, link.split("-"))
                assert i < len(source.split()) and j < len(target.split())
    assert [path.name for path in out.parent.iterdir()] == ["corpus"]


def test_a_corpus_that_is_there_is_replaced_and_nothing_else_is(tmp_path):
    (tmp_path / "letter.txt").write_text("dear reader")
    write_corpus(tmp_path, "fr-en", {"test": 2})
    before = (tmp_path / "test.src").read_text(encoding="utf-8")
    write_corpus(tmp_path, "fr-en", {"test": 2}, seed=2)
    assert before.count("\n") == 2 and (tmp_path / "test.src").read_text(encoding="utf-8") != before
    assert (tmp_path / "letter.txt").read_text() == "dear reader"


def test_nothing_is_left_where_making_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("recurrent_mt.data.synthetic._PATIENCE", 5)
    with pytest.raises(RuntimeError, match="ask for fewer sentences"):
        write_corpus(tmp_path / "corpus", "fr-en", {"test": 100000}, max_words=3)
    assert not any((tmp_path / "corpus").iterdir())
