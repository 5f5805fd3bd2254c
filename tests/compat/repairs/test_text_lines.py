"""What fairseq takes for a line of text, whichever of its readers reads it."""

from __future__ import annotations

import io
import itertools
import sys
from pathlib import Path

import fairseq_cli.interactive
import fairseq_cli.score
import pytest
from fairseq import file_chunker_utils, utils
from fairseq.data import Dictionary, data_utils
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .commands import preprocess

#: What some program or other takes for the end of a line, and what else does not belong to words.
TEXT = "\ufeffun\rdeux\u2028trois\x85quatre\x0ccinq\x1dsix\n\r\nsept\0huit\r\nneuf\r\r\n\rdix".encode()
LINES = ["un deux\u2028trois\x85quatre\x0ccinq\x1dsix", "", "sept huit", "neuf", " dix"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "text").write_bytes(TEXT)
    return tmp_path / "text"


def read_in_chunks(path: Path, workers: int) -> list[str]:
    """The lines of a file as that many workers of fairseq-preprocess find them."""
    offsets = file_chunker_utils.find_offsets(str(path), workers)
    read = []
    for start, end in itertools.pairwise(offsets):
        with file_chunker_utils.Chunker(str(path), start, end) as lines:
            read += [line.removesuffix("\n") for line in lines]
    return read


@pytest.mark.parametrize("workers", [1, 2, 3, 7, 50])
def test_several_workers_find_the_lines_of_one(workers: int, text: Path):
    assert read_in_chunks(text, workers) == LINES


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=6)), st.integers(1, 9)
)
def test_any_text_has_as_many_lines_as_line_feeds(tmp_path: Path, lines: list[str], workers: int):
    (tmp_path / "any").write_bytes("".join(f"{line}\n" for line in lines).encode())
    read = read_in_chunks(tmp_path / "any", workers)
    assert [line.split() for line in read] == [
        line.replace("\0", " ").removeprefix("" if number else "\ufeff").split() for number, line in enumerate(lines)
    ]


def test_both_forms_of_binarized_data_have_the_lines_of_the_text(tmp_path: Path):
    for side in ("src", "tgt"):
        (tmp_path / f"train.{side}").write_bytes(TEXT if side == "src" else b"1\n2\n3\n4\n5\n")
    for form in ("mmap", "raw"):
        preprocess(tmp_path, tmp_path / form, "--dataset-impl", form, "--workers", 2, splits=("train",))
        words = Dictionary.load(str(tmp_path / form / "dict.src.txt"))
        assert sorted(words.symbols[4:14]) == sorted(" ".join(LINES).split())
        data = data_utils.load_indexed_dataset(str(tmp_path / form / "train.src-tgt.src"), words, form)
        assert [words.string(sentence) for sentence in data] == [" ".join(line.split()) for line in LINES]


@pytest.mark.parametrize("given", ["file", "standard input"])
def test_fairseq_interactive_takes_as_many_sentences_as_lines(given: str, text: Path, monkeypatch):
    if given == "standard input":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT), encoding="ascii"))
    buffers = fairseq_cli.interactive.buffered_read(str(text) if given == "file" else "-", 3)
    assert list(buffers) == [[line.strip() for line in LINES[:3]], [line.strip() for line in LINES[3:]]]


def test_fairseq_score_pairs_the_lines(tmp_path: Path, monkeypatch, capsys):
    system = "\ufeffun chat dort ici\nun grand\rchien\u2028noir dort là\n".encode()
    (tmp_path / "system").write_bytes(system)
    (tmp_path / "reference").write_bytes("un chat dort ici\r\nun grand chien noir dort là\r\n".encode())
    files = ["--sys", str(tmp_path / "system"), "--ref", str(tmp_path / "reference")]
    monkeypatch.setattr(sys, "argv", ["fairseq-score", *files])
    fairseq_cli.score.cli_main()
    assert "BLEU4 = 100.00" in capsys.readouterr().out


def test_a_dictionary_written_by_an_editor_is_read(tmp_path: Path):
    (tmp_path / "dict.fr.txt").write_bytes("\ufeffchat 12\r\nchien 3 #fairseq:overwrite\r\n".encode())
    assert Dictionary.load(str(tmp_path / "dict.fr.txt")).symbols[4:] == ["chat", "chien"]


def test_a_dictionary_of_translations_is_read_as_utf_8(tmp_path: Path):
    (tmp_path / "translations").write_bytes("\ufeffété summer\r\nhiver winter\n".encode())
    assert utils.load_align_dict(str(tmp_path / "translations")) == {"été": "summer", "hiver": "winter"}
