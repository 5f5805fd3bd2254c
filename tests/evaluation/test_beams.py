"""BLEU and length by beam and length penalty, from the logs that an experiment leaves."""

import json
from pathlib import Path

import pandas
import pytest

from recurrent_mt.evaluation.beams import LENGTH_RATIO, beam_figure, beam_table, read_beams
from recurrent_mt.evaluation.tables import make_frame
from recurrent_mt.metrics import score, sign_systems
from recurrent_mt.text_files import FileError
from tests.commands import call
from tests.evaluation.test_analysis import write_lines

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


def read(folder, system="mine"):
    """The records of each beam and penalty by metric, and the signature."""
    records, counts = read_beams(system, folder, REFERENCES, "en", False)
    return make_frame(records), sign_systems(counts)


def compare(folder, tmp_path, *arguments):
    """The tool on one system."""
    write_lines(tmp_path / "ref", REFERENCES)
    return call(
        *("beams", "--system", f"mine={folder}", "--reference", tmp_path / "ref"),
        *("--target-lang", "en", "--out", tmp_path / "out", *arguments),
    )


def test_the_signature_is_of_all_searches_in_whatever_order(folder, tmp_path):
    leave(tmp_path / "other", "beam-2", [REFERENCES[0], f"{REFERENCES[1]}\u200b"])
    for order in ((folder, tmp_path / "other"), (tmp_path / "other", folder)):
        systems = [f"--system={place.name}={place}" for place in order]
        write_lines(tmp_path / "ref", REFERENCES)
        files = ("--reference", tmp_path / "ref", "--out", tmp_path / "out")
        done = call("beams", *systems, *files, "--target-lang", "en")
        assert "|text:normalized" in done.stdout, done.stderr


def test_each_log_is_a_beam_and_a_length_penalty(folder):
    records, _ = read(folder)
    points = list(dict.fromkeys(zip(records["bucket"], records["by"], strict=True)))
    penalties = ["beam, lenpen 1", "beam, lenpen 1", "beam, lenpen 0.6", "beam, lenpen 0"]
    assert points == list(zip(["2", "10", "10", "10"], penalties, strict=True))
    values = records.pivot(index=["bucket", "by"], columns="metric", values="value").loc
    unnormalized = values["10", "beam, lenpen 0"]
    assert unnormalized["BLEU"] == score("bleu", SHORT, REFERENCES, target_language="en").value
    assert unnormalized["length ratio"] == 9 / 16
    assert values["10", "beam, lenpen 0.6"]["length ratio"] == 1
    assert values["10", "beam, lenpen 1"]["sentences/s"] == 5
    assert list(records["penalty"].unique()) == [1, 0.6, 0] and set(records["group"]) == {"beam"}


def test_what_a_search_is_called_decides_nothing(folder):
    records, signature = read(folder)
    renamed = records.assign(by="a search")
    assert beam_table(renamed, signature) == beam_table(records, signature)
    assert len(beam_figure(renamed).axes[0].get_lines()) == 3


def test_penalties_are_columns_and_gaps_are_dashes(folder):
    table = beam_table(*read(folder))
    assert table.header == [
        *("System", "beam", "BLEU, lenpen 1", "length ratio", "BLEU, lenpen 0.6", "length ratio"),
        *("BLEU, lenpen 0", "length ratio", "sentences/s"),
    ]
    two, ten = ([str(cell) for cell in row] for row in table.rows)
    assert two == ["2", "100.00", "1.000", "–", "–", "–", "–", "20.0"]
    assert ten[1:5] == ["100.00", "1.000"] * 2 and ten[-2:] == ["0.562", "5.0"]
    assert "case:mixed" in table.signatures[0]


def test_the_figure_has_a_line_for_each_system_and_penalty(folder):
    figure = beam_figure(pandas.concat([read(folder)[0], read(folder, "theirs")[0]]))
    bleu, ratio = figure.axes
    assert (bleu.get_ylabel(), ratio.get_ylabel()) == ("BLEU", "length ratio")
    lines = [(line.get_color(), line.get_linestyle()) for line in bleu.get_lines()]
    assert len(lines) == len(set(lines)) == 6
    lowest = min(line.get_ydata().min() for line in ratio.get_lines()[:3])
    assert lowest == 9 / 16
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["mine", "theirs", "divided by length", "divided by length^0.6", "not divided"]


def test_more_systems_than_colors_can_be_told_apart(folder):
    figure = beam_figure(pandas.concat([read(folder, str(number))[0] for number in range(10)]))
    for lines in (figure.axes[0].get_lines(), figure.legends[0].get_lines()[:10]):
        found = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}
        assert len(found) == len(lines)


def test_a_name_that_says_too_little_is_refused(folder):
    leave(folder, "beam-5-normalized", REFERENCES)
    with pytest.raises(FileError, match=r"beam-5-normalized\.log: expected a name like beam-5\.log"):
        read(folder)


def test_an_empty_folder_and_a_short_file_are_named(folder, tmp_path):
    with pytest.raises(FileError, match=r"there is no beam-N\.log"):
        read(tmp_path)
    write_lines(folder / "beam-2.detokenized", REFERENCES[:1])
    with pytest.raises(FileError, match=r"beam-2\.detokenized: 1 lines, but the reference has 2"):
        read(folder)


def test_what_a_stopped_run_left_is_read_by_none(folder):
    (folder / "beam-2.detokenized").unlink()
    assert set(read(folder)[0]["bucket"]) == {"10"}
    with pytest.raises(FileError, match=r"beam-2\.detokenized: there is no such file"):
        read_beams("mine", folder, REFERENCES, "en", False, ["beam-2"])


def test_the_command_reads_only_the_searches_that_are_named(folder, tmp_path):
    (folder / "beam-2.detokenized").unlink()
    done = compare(folder, tmp_path, "--searches", "beam-10,beam-10-lenpen-0.6")
    assert done.returncode == 0, done.stderr
    records = json.loads((tmp_path / "out/beams.json").read_text())["records"]
    assert {(one["bucket"], one["by"]) for one in records} == {
        ("10", f"beam, lenpen {lenpen}") for lenpen in ("1", "0.6")
    }


def test_the_command_writes_tables_and_a_figure(folder, tmp_path):
    done = compare(folder, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "out/beams.txt").read_text()
    records = json.loads((tmp_path / "out/beams.json").read_text())["records"]
    assert len(records) == 4 * 3
    assert "<svg" in (tmp_path / "out/beams.svg").read_text()
    assert "| mine   |   10 |" in (tmp_path / "out/beams.md").read_text()


def test_references_without_words_have_no_length_ratio(folder):
    records, _ = read_beams("mine", folder, ["", ""], "en", False)
    assert [one.value for one in records if one.metric == LENGTH_RATIO] == [None] * 4
