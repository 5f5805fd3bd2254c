"""Text files and fairseq's dictionaries: read strictly, written whole or not at all."""

import bz2
import errno
import gzip
import io
import lzma
import os
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from recurrent_mt.data.parallel_text import read_blocks
from recurrent_mt.resumable_file import ResumableFile
from recurrent_mt.text_files import (
    FileError,
    check_output_files,
    decode_lines,
    find_file,
    read_dictionary,
    read_lines,
    read_sentences,
    read_standard_input,
    write_aside,
    write_text,
)


def test_lines_end_at_a_line_feed_alone(tmp_path):
    file = tmp_path / "text"
    file.write_bytes("one\r\n\n two \u2028 three\x0bfour\r\nlast".encode())
    assert read_sentences(file) == ["one", "", " two \u2028 three\x0bfour", "last"]


def test_what_other_programs_take_for_the_end_of_a_line_or_of_the_text_is_a_space(tmp_path):
    (tmp_path / "text").write_bytes(b"one\rtwo\r\r\n\rthree\0four\n\0\n")
    assert read_sentences(tmp_path / "text") == ["one two", " three four", " "]


def test_a_byte_order_mark_is_not_text(tmp_path):
    (tmp_path / "text").write_bytes("one\ntwo\n".encode("utf-8-sig"))
    assert list(read_lines(tmp_path / "text")) == [(1, "one"), (2, "two")]


def test_one_side_of_a_text_may_be_packed_but_is_there_once(tmp_path):
    for name in ("v1.2.fr.gz", "v1.2.en"):
        (tmp_path / name).touch()
    assert find_file(tmp_path / "v1.2", "fr").name == "v1.2.fr.gz"
    assert find_file(tmp_path / "v1.2", "en").name == "v1.2.en"
    with pytest.raises(FileError, match=r"v1\.2\.de: there is no such file, nor one with \.gz, \.xz, \.bz2"):
        find_file(tmp_path / "v1.2", "de")
    (tmp_path / "v1.2.fr").touch()
    with pytest.raises(FileError, match=r"v1\.2\.fr: v1\.2\.fr\.gz is there as well: which one is meant"):
        find_file(tmp_path / "v1.2", "fr")


@pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)])
def test_compressed_files_are_read_and_named_where_they_are_cut_off(tmp_path, ending, compress):
    whole = compress("".join(f"ligne {number} été\n" for number in range(2000)).encode())
    file = tmp_path / f"text.{ending}"
    file.write_bytes(whole)
    assert read_sentences(file)[-1] == "ligne 1999 été"
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=rf"text\.{ending}.*: the file is cut off or damaged"):
        read_sentences(file)


def test_a_damaged_file_is_named_and_an_error_of_the_system_stays_one(tmp_path):
    file = tmp_path / "text.bz2"
    file.write_bytes(b"no bzip2")
    with pytest.raises(FileError, match=r"text\.bz2: the file is cut off or damaged"):
        read_sentences(file)
    with pytest.raises(FileError, match=r"text\.bz2: the file is cut off or damaged"):
        list(read_blocks([file], [file]))

    def broken():
        yield b"one\n"
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(OSError, match="Input/output error") as raised:
        list(decode_lines("text", broken()))
    assert not isinstance(raised.value, FileError)


def test_an_error_can_be_sent_to_another_process():
    for error in (FileError("text", "it is empty"), FileError("text", "it is long", line=3)):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(error) == "text, line 3: it is long"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "text: there are no sentences"),
        (b"one\nd\xe9j\xe0\n", "text, line 2: byte 2 is not UTF-8"),
        (None, "text: there is no such file"),
    ],
)
def test_bad_files_are_named_with_the_line(tmp_path, content, message):
    if content is not None:
        (tmp_path / "text").write_bytes(content)
    with pytest.raises(FileError, match=message):
        read_sentences(tmp_path / "text")


def test_standard_input_is_read_as_files_are(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="ascii"))
        return list(read_standard_input())

    assert give("\ufeffété\rhiver\r\n\nlast".encode()) == ["été hiver", "", "last"]
    assert give(b"") == []
    with pytest.raises(FileError, match="standard input, line 2: byte 6 is not UTF-8"):
        give(b"one\nthree\xff\n")


@pytest.mark.parametrize(("terminal", "said"), [(True, "Type a sentence, then Enter; Ctrl-D ends.\n"), (False, "")])
def test_on_a_terminal_it_says_what_to_type(terminal, said, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: terminal, buffer=io.BytesIO(b"one\n")))
    assert list(read_standard_input()) == ["one"]
    assert tuple(capsys.readouterr()) == ("", said)


def test_text_is_replaced_whole(tmp_path):
    path = tmp_path / "new" / "text.txt"
    write_text(path, "old\n")
    write_text(path, "été\n")
    assert path.read_bytes() == "été\n".encode()
    assert [file.name for file in path.parent.iterdir()] == ["text.txt"]


def test_a_link_stays_one_and_what_it_names_is_replaced(tmp_path):
    (tmp_path / "text").write_text("old\n")
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(Path("..") / "text")
    write_text(link, "new\n")
    assert link.is_symlink() and (tmp_path / "text").read_text() == "new\n"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["elsewhere", "link", "text"]


def test_what_is_no_file_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "new\n")
        assert os.read(reader, 9) == b"new\n" and pipe.is_fifo()
    finally:
        os.close(reader)
    with pytest.raises(FileError, match="it is no file: give the name of one"):
        ResumableFile(pipe, {})


def test_results_that_cannot_be_files_are_refused_before_the_work(tmp_path):
    (tmp_path / "text").write_text("text")
    (tmp_path / "link").symlink_to("text")
    check_output_files([tmp_path / "text"], [tmp_path / "new", tmp_path / "new" / "folder" / "file", os.devnull])
    refused = {"text": ValueError, "link": ValueError, ".": IsADirectoryError, "text/x/y": NotADirectoryError}
    for path, error in refused.items():
        with pytest.raises(error, match=str(tmp_path)):
            check_output_files([tmp_path / "text"], [tmp_path / path])


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "text.txt"
    write_text(path, "old\n")
    with pytest.raises(RuntimeError), write_aside(path) as partial:
        partial.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old\n"
    assert [file.name for file in tmp_path.iterdir()] == ["text.txt"]


def test_the_words_of_a_dictionary_are_all_entries_but_padding(tmp_path):
    path = tmp_path / "dict.en.txt"
    path.write_text("cat 12\nzero 0\nmadeupword0000 0\nmadeupwords 3\nNew 3 #fairseq:overwrite\na b 2\n")
    assert read_dictionary(path) == {"cat": 12, "zero": 0, "madeupwords": 3, "New": 3, "a b": 2}
    assert list(read_dictionary(path)) == ["cat", "zero", "madeupwords", "New", "a b"]


@pytest.mark.parametrize("line", ["cat", "cat many", " 3", ""])
def test_a_damaged_dictionary_is_named_with_its_line(tmp_path, line):
    path = tmp_path / "dict.en.txt"
    path.write_text(f"a 7\n{line}\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"dict\.en\.txt, line 2: expected a word and its count"):
        read_dictionary(path)
