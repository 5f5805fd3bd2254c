import gzip
import lzma

import pytest

from recurrent_mt.data.lines import TextError, map_lines, one_line, read_pairs, write_pairs

LANGUAGES = ("fr", "en")


def write(folder, *, fr, en, ending=""):
    opener = {"": open, ".gz": gzip.open, ".xz": lzma.open}[ending]
    for language, content in (("fr", fr), ("en", en)):
        with opener(folder / f"train.{language}{ending}", "wb") as file:
            file.write(content)
    return str(folder / "train")


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_plain_and_compressed(tmp_path, ending):
    prefix = write(tmp_path, fr="\ufeffÉté\r\n\nfin".encode(), en=b"Summer\nnothing\nend\n", ending=ending)
    assert list(read_pairs(prefix, LANGUAGES)) == [("Été", "Summer"), ("", "nothing"), ("fin", "end")]


def test_a_sentence_stays_on_one_line():
    assert one_line(" a\rb\u2028c\x85d\te\u00a0f ") == "a b c d e\u00a0f"


@pytest.mark.parametrize(
    ("fr", "en", "message"),
    [
        (b"un\ndeux\n", b"one\n", "en ends after line 1"),
        (b"un\n", b"one\ntwo\n", "fr ends after line 1"),
        (b"un\nd\xe9j\xe0\n", b"one\ntwo\n", "train.fr line 2 is not UTF-8"),
        (b"", b"", "train.fr is empty"),
    ],
)
def test_broken_text_is_named(tmp_path, fr, en, message):
    with pytest.raises(TextError, match=message):
        list(read_pairs(write(tmp_path, fr=fr, en=en), LANGUAGES))


def test_a_cut_file_is_named(tmp_path):
    prefix = write(tmp_path, fr=b"un\n" * 9000, en=b"one\n" * 9000, ending=".gz")
    path = tmp_path / "train.fr.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TextError, match=r"train.fr.gz is cut off or damaged after line \d+"):
        list(read_pairs(prefix, LANGUAGES))


def test_a_file_that_is_missing_or_there_twice(tmp_path):
    prefix = write(tmp_path, fr=b"un\n", en=b"one\n")
    write(tmp_path, fr=b"un\n", en=b"one\n", ending=".gz")
    with pytest.raises(TextError, match="which one is meant"):
        list(read_pairs(prefix, LANGUAGES))
    with pytest.raises(TextError, match=r"there is no file .*train\.de"):
        list(read_pairs(prefix, ("de", "en")))


def test_a_folder_appears_when_both_sides_are_whole(tmp_path):
    def broken():
        yield "un", "one"
        raise TextError("broken")

    with pytest.raises(TextError, match="broken"):
        write_pairs(broken(), tmp_path / "set", LANGUAGES)
    assert not (tmp_path / "set").exists()
    assert write_pairs([("un", "one"), ("", "two")], tmp_path / "set", LANGUAGES) == 2
    assert (tmp_path / "set" / "text.fr").read_text() == "un\n\n"
    with pytest.raises(TextError, match="no sentence pair"):
        write_pairs([], tmp_path / "other", LANGUAGES)


@pytest.mark.parametrize("jobs", [1, 2])
def test_lines_keep_their_order(jobs):
    lines = [str(number) for number in range(9001)]
    assert list(map_lines(lambda line: f"<{line}>", lines, jobs)) == [f"<{line}>" for line in lines]
