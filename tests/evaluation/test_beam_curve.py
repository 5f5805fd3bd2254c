"""BLEU and length by beam and length penalty, from the logs that scripts/beam_curve.sh leaves."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from recurrent_mt.evaluation.beam_curve import beam_figure, beam_rows, beams_as_text, read_beams
from recurrent_mt.metrics import score
from recurrent_mt.text_files import FileError
from tests.evaluation.test_study import write_lines

ROOT = Path(__file__).parents[2]
REFERENCES = ["the black cat sees the dog .", "a dog sleeps in the big red house ."]
LOG = """\
H-0\t-0.5\tx
D-0\t-0.5\tx
P-0\t-0.5
H-1\t-0.5\tx
D-1\t-0.5\tx
P-1\t-0.5
INFO | Translated 2 sentences (9 tokens) in 0.1s ({speed} sentences/s, 30.00 tokens/s)
Generate test with beam=5: BLEU4 = 10
"""
SHORT = ["the black cat sees", "a dog sleeps in the"]


def leave(folder, name, translations, speed=20.0):
    write_lines(folder / f"{name}.detokenized", translations)
    (folder / f"{name}.log").write_text(LOG.format(speed=speed))


@pytest.fixture
def folder(tmp_path):
    leave(tmp_path / "beams", "beam-10", REFERENCES, speed=5.0)
    leave(tmp_path / "beams", "beam-10-unnormalized", SHORT)
    leave(tmp_path / "beams", "beam-2", REFERENCES)
    leave(tmp_path / "beams", "beam-10-lenpen-0.6", REFERENCES)
    return tmp_path / "beams"


def read(folder):
    return read_beams("mine", folder, REFERENCES, "en", False)


def test_each_log_is_a_point(folder):
    points = read(folder)
    assert [(point.beam, point.length_penalty) for point in points] == [(2, 1), (10, 1), (10, 0.6), (10, 0)]
    unnormalized = points[-1]
    assert unnormalized.bleu == score("bleu", SHORT, REFERENCES, target_language="en").value
    assert unnormalized.length_ratio == 9 / 16
    assert [point.length_ratio for point in points[:3]] == [1, 1, 1]
    assert points[1].sentences_per_second == 5


def test_penalties_are_columns_and_gaps_are_dashes(folder):
    header, two, ten = beam_rows(read(folder))
    assert header == [
        *("System", "beam", "BLEU, lenpen 1", "length ratio", "BLEU, lenpen 0.6", "length ratio"),
        *("BLEU, lenpen 0", "length ratio", "sentences/s"),
    ]
    assert two == ["mine", "2", "100.00", "1.000", "–", "–", "–", "–", "20.0"]
    assert ten[2:6] == ["100.00", "1.000"] * 2 and ten[-2:] == ["0.562", "5.0"]
    assert "case:mixed" in beams_as_text(read(folder))


def test_the_figure_has_a_line_for_each_system_and_penalty(folder):
    points = [*read(folder), *read_beams("theirs", folder, REFERENCES, "en", False)]
    figure = beam_figure(points)
    bleu, ratio = figure.axes
    assert (bleu.get_ylabel(), ratio.get_ylabel()) == ("BLEU", "length ratio")
    lines = [(line.get_color(), line.get_linestyle()) for line in bleu.get_lines()]
    assert len(lines) == len(set(lines)) == 6
    lowest = min(line.get_ydata().min() for line in ratio.get_lines()[:3])
    assert lowest == 9 / 16
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["mine", "theirs", "divided by length", "divided by length^0.6", "not divided"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("beam-5-normalized", r"beam-5-normalized\.log: expected a name like beam-5\.log"),
        ("beam-2-lenpen-1", r"there is another log of beam 2 with the length penalty 1$"),
        ("beam-10-lenpen-0", r"there is another log of beam 10 with the length penalty 0$"),
    ],
)
def test_names_that_say_too_little_or_the_same_are_refused(folder, name, message):
    leave(folder, name, REFERENCES)
    with pytest.raises(FileError, match=message):
        read(folder)


def test_an_empty_folder_and_a_short_file_are_named(folder, tmp_path):
    with pytest.raises(FileError, match=r"there is no beam-N\.log"):
        read(tmp_path)
    write_lines(folder / "beam-2.detokenized", REFERENCES[:1])
    with pytest.raises(FileError, match=r"beam-2\.detokenized: 1 lines, but the reference has 2"):
        read(folder)


def test_the_command_writes_tables_and_a_figure(folder, tmp_path):
    write_lines(tmp_path / "ref", REFERENCES)
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/beam_table.py", "--system", f"mine={folder}", "--reference", tmp_path / "ref",
         "--target-lang", "en", "--out", tmp_path / "out"], capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "out/beams.txt").read_text()
    assert [point["length_penalty"] for point in json.loads((tmp_path / "out/beams.json").read_text())] == [
        1,
        1,
        0.6,
        0,
    ]
    assert "<svg" in (tmp_path / "out/beams.svg").read_text()
    assert "| mine | 10 |" in (tmp_path / "out/beams.md").read_text()
