import gzip
import lzma

import pytest

from recurrent_mt.data.parallel_text import (
    check_outputs,
    limit_lengths,
    one_line,
    partial_folder,
    read_blocks,
    read_pairs,
    write_pairs,
)
from recurrent_mt.text_files import FileError

LINES = [b"one", b"", b"three\xe2\x80\xa8still\x0cthree\xc2\x85", b"\xff not UTF-8", b"five\r"] * 7
LANGUAGES = ("fr", "en")
OPEN = {"": open, ".gz": gzip.open, ".xz": lzma.open}


def write(path, lines):
    with OPEN["" if path.suffix == ".fr" else path.suffix](path, "wb") as file:
        file.write(b"".join(line + b"\n" for line in lines))
    return path


@pytest.fixture
def plain(tmp_path):
    return write(tmp_path / "plain.fr", LINES)


@pytest.mark.parametrize("ending", OPEN)
def test_lines_end_at_newlines_alone(tmp_path, plain, ending):
    path = write(tmp_path / f"text.fr{ending}", LINES)
    blocks = list(read_blocks([path, plain], [plain, path], size=10))
    assert [(block.file, block.first_line, len(block.source)) for block in blocks] == [
        *((0, first, size) for first, size in ((1, 10), (11, 10), (21, 10), (31, 5))),
        *((1, first, size) for first, size in ((1, 10), (11, 10), (21, 10), (31, 5))),
    ]
    for lines in ("source", "target"):
        assert [line for block in blocks for line in getattr(block, lines)] == LINES * 2


def test_the_last_newline_may_be_missing(tmp_path, plain):
    path = tmp_path / "text.fr"
    path.write_bytes(plain.read_bytes()[:-1])
    assert next(read_blocks([path], [plain])).source == LINES


@pytest.mark.parametrize("ending", [".gz", ".xz"])
def test_a_cut_file_is_named(tmp_path, plain, ending):
    whole = write(tmp_path / f"whole{ending}", LINES * 500)
    cut = tmp_path / f"cut.fr{ending}"
    cut.write_bytes(whole.read_bytes()[:-10])
    with pytest.raises(ValueError, match=rf"cut\.fr\{ending}: the file is cut off or damaged .*get it again"):
        list(read_blocks([whole], [cut]))


@pytest.mark.parametrize(("source", "target"), [(7, 9), (20, 10)])
def test_unequal_sides_are_counted(tmp_path, source, target):
    paths = [write(tmp_path / f"text-{side}.fr", [b"x"] * side) for side in (source, target)]
    with pytest.raises(ValueError, match=rf"-{source}\.fr has {source} lines and .*-{target}\.fr has {target}: line n"):
        list(read_blocks([paths[0]], [paths[1]], size=5))


def test_files_come_in_pairs(plain):
    with pytest.raises(ValueError, match="2 source files and 1 target files: give them in pairs"):
        list(read_blocks([plain, plain], [plain]))


def write_both(folder, *, fr, en, ending=""):
    for language, content in (("fr", fr), ("en", en)):
        with OPEN[ending](folder / f"train.{language}{ending}", "wb") as file:
            file.write(content)
    return str(folder / "train")


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_pairs_are_read_from_plain_and_compressed_files(tmp_path, ending):
    prefix = write_both(tmp_path, fr="\ufeffÉté\r\n\nfin".encode(), en=b"Summer\nnothing\nend\n", ending=ending)
    assert list(read_pairs(prefix, LANGUAGES)) == [("Été", "Summer"), ("", "nothing"), ("fin", "end")]


def test_a_sentence_stays_on_one_line():
    assert one_line(" a\rb\u2028c\x85d\te\u00a0f ") == "a b c d e\u00a0f"


@pytest.mark.parametrize(
    ("fr", "en", "message"),
    [
        (b"un\ndeux\n", b"one\n", r"train\.en: it ends after line 1 and .*train\.fr goes on"),
        (b"", b"one\n", r"train\.fr: it is empty, and .*train\.en is not"),
        (b"un\n", b"one\ntwo\n", r"train\.fr: it ends after line 1 and .*train\.en goes on"),
        (b"un\nd\xe9j\xe0\n", b"one\ntwo\n", "train.fr, line 2: byte 2 is not UTF-8"),
        (b"", b"", "train.fr: there are no sentences"),
    ],
)
def test_broken_text_is_named(tmp_path, fr, en, message):
    with pytest.raises(FileError, match=message):
        list(read_pairs(write_both(tmp_path, fr=fr, en=en), LANGUAGES))


def test_both_sides_appear_when_they_are_whole(tmp_path):
    def broken():
        yield "un", "one"
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        write_pairs(broken(), tmp_path / "set", LANGUAGES)
    assert not list(tmp_path.rglob("*.*"))
    # What a call left that was killed between its last two steps is no part of the next.
    (tmp_path / "set" / "text.fr").write_text("zero\n")
    assert write_pairs([("un", "one"), ("", "two")], tmp_path / "set", LANGUAGES) == 2
    assert (tmp_path / "set" / "text.fr").read_text() == "un\n\n"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["set", "text.en", "text.fr"]
    with pytest.raises(ValueError, match="no sentence pair"):
        write_pairs([], tmp_path / "other", LANGUAGES)
    assert not list((tmp_path / "other").iterdir())


def test_two_calls_do_not_write_in_one_folder(tmp_path):
    with partial_folder(tmp_path / "train") as folder:
        (folder / "text").write_text("mine")
        with (
            pytest.raises(FileError, match=r"\.train\.partial: another process is writing there"),
            partial_folder(tmp_path / "train"),
        ):
            pass
        assert (folder / "text").read_text() == "mine"
    with partial_folder(tmp_path / "train") as folder:
        assert not list(folder.iterdir())
    assert not list(tmp_path.iterdir())


def test_two_sides_are_two_files(tmp_path):
    with pytest.raises(ValueError, match=r"both sides would be .*out\.en: give two languages"):
        check_outputs([], tmp_path / "out", ("en", "en"), tmp_path / "report.md")
    with pytest.raises(ValueError, match=r"report\.json: its numbers get that name"):
        check_outputs([], tmp_path / "out", ("fr", "en"), tmp_path / "report.json")


def limit(folder, prefix, **options):
    dropped = limit_lengths(prefix, str(folder / "out"), LANGUAGES, **{"most": 3, "refuse": False, **options})
    return dropped, [(folder / f"out.{language}").read_text().splitlines() for language in LANGUAGES]


def test_pairs_that_are_empty_or_too_long_are_dropped_and_the_first_is_named(tmp_path):
    prefix = write_both(tmp_path, fr=b"a\nb b b b\n\nd\n", en=b"A\nB\nC\nD D\n")
    dropped, sides = limit(tmp_path, prefix)
    assert dropped == f"Dropped 2 of 4 pairs (the first: {prefix}.fr line 2 has 4 tokens, more than the 3 allowed)."
    assert sides == [["a", "d"], ["A", "D D"]]


def test_without_a_limit_only_what_is_empty_is_refused(tmp_path):
    prefix = write_both(tmp_path, fr=b"a " * 2001 + b"\nb\n", en=b"A\nB\n")
    assert limit(tmp_path, prefix, most=None, refuse=True) == ("", [["a " * 2001, "b"], ["A", "B"]])


@pytest.mark.parametrize(
    ("fr", "en", "options", "message"),
    [
        (b"a\nb\n", b"A\n\n", {"refuse": True}, r"train\.en line 2 has no token"),
        (b"a\nb\n", b"A\n", {}, r"train\.en: it ends after line 1"),
        (b"a a a a\n", b"A\n", {}, "no pair is left"),
    ],
)
def test_what_cannot_be_limited_is_refused_and_nothing_is_written(fr, en, options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        limit(tmp_path, write_both(tmp_path, fr=fr, en=en), **options)
    assert not list(tmp_path.glob("out*"))


def test_a_tool_that_found_another_line_separator_is_noticed(tmp_path):
    (tmp_path / "raw").mkdir()
    prefix = write_both(tmp_path, fr=b"a\nb\nc\n", en=b"A\nB\nC\n")
    raw = write_both(tmp_path / "raw", fr=b"a\nb\n", en=b"A\nB\n")
    with pytest.raises(FileError, match=r"raw/train\.fr: it ends after line 2.*another line separator"):
        limit(tmp_path, prefix, same_as=raw)
