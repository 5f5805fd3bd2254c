"""The command line on a toy task, with models trained for a few updates."""

import json
import math

import pytest

from tests.cli import toy
from tests.commands import last_of_each
from tests.once import build_once

LINES = ["w0 w1 w2 w3 w4 w5 w6 w7 w0 w1", "", "w3", "w2 unseen w1", "w5 w5 w6"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with data in both directions, a model of each, and an input."""

    def build(folder):
        toy.write_corpus(folder)
        toy.preprocess(folder, folder / "data")
        swapped = ("-s", "tgt", "-t", "src", "--srcdict", folder / "data/dict.tgt.txt")
        toy.preprocess(folder, folder / "inverse-data", *swapped, "--tgtdict", folder / "data/dict.src.txt")
        options = ("--arch", "gru_encoder", "--decoder-attention", "none", "--max-update", "20")
        toy.train(folder / "data", folder / "forward", *options)
        toy.train(folder / "inverse-data", folder / "inverse", *options)
        (folder / "input").write_text("".join(line + "\n" for line in LINES))
        return folder

    return build_once(tmp_path_factory, "segmentation", build)


def translate(run, out, *options, check=True, fresh=False):
    """Runs the tool on the input of the folder."""
    model = ("--forward", run / "forward/checkpoint_last.pt", "--data", run / "data")
    files = ("--input", run / "input", "--out", out, "--cpu", "--beam", 3)
    given = last_of_each(*model, *files, *options)
    return toy.run("recurrent-mt", "translate-segmented", *given, check=check, fresh=fresh)


def inverse(run):
    """The options of the inverse model, whose checkpoint does not say its languages: its data's files do."""
    return "--inverse", run / "inverse/checkpoint_last.pt", "--inverse-data", run / "inverse-data"


@pytest.fixture(scope="module")
def out(run, tmp_path_factory):
    """What the four modes write."""

    def build(folder):
        translate(run, folder / "out", *inverse(run), "--max-span", "4", fresh=True)
        return folder / "out"

    return build_once(tmp_path_factory, "segmented", build)


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_segment_writes_a_translation_and_segments_in_every_mode(out):
    names = {f"{mode}{suffix}" for mode in ("default", "rev", "norm", "normrev") for suffix in (".txt", ".jsonl")}
    assert {path.name for path in out.iterdir()} == names


@pytest.mark.parametrize("mode", ["default", "rev", "norm", "normrev"])
def test_segments_cover_each_sentence_and_add_up(out, mode):
    texts = (out / f"{mode}.txt").read_text().splitlines()
    assert len(texts) == len(LINES)
    for number, (record, line, text) in enumerate(zip(records(out / f"{mode}.jsonl"), LINES, texts, strict=True), 1):
        segments = record["segments"]
        assert record["line"] == number
        assert " ".join(segment["source"] for segment in segments) == line
        assert " ".join(segment["translation"] for segment in segments).split() == text.split()
        assert record["cost"] == pytest.approx(sum(segment["cost"] for segment in segments))
        assert all(1 <= segment["end"] - segment["start"] <= 4 for segment in segments)
        assert [segment["start"] for segment in segments[1:]] == [segment["end"] for segment in segments[:-1]]


def test_no_cut_divides_a_word(run, tmp_path):
    """w1@@ is no word of the model's, but a piece of one with what follows it."""
    (tmp_path / "input").write_text("w1 w2@@ w3 w4@@ w5@@ w6 w7\n")
    options = ("--input", tmp_path / "input", "--mode", "norm", "--max-span", 1)
    translate(run, tmp_path / "out", *options)
    (record,) = records(tmp_path / "out" / "norm.jsonl")
    assert [segment["source"] for segment in record["segments"]] == ["w1", "w2@@ w3", "w4@@ w5@@ w6", "w7"]
    assert [(segment["start"], segment["end"]) for segment in record["segments"]] == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_costs_of_rev_are_those_that_fairseq_generate_prints(run, out, tmp_path):
    """Forward and inverse scores of the chosen pairs, with --score-reference."""
    segments = [segment for record in records(out / "rev.jsonl") for segment in record["segments"]]
    segments = [segment for segment in segments if segment["translation"]]
    assert len(segments) >= 5
    (tmp_path / "test.src").write_text("".join(segment["source"] + "\n" for segment in segments))
    (tmp_path / "test.tgt").write_text("".join(segment["translation"] + "\n" for segment in segments))
    costs = []
    for languages, model in ((("src", "tgt"), "forward"), (("tgt", "src"), "inverse")):
        dictionaries = [f"{run}/data/dict.{language}.txt" for language in languages]
        destination = tmp_path / model
        toy.run(
            *("fairseq-preprocess", "-s", languages[0], "-t", languages[1], "--testpref", tmp_path / "test"),
            *("--srcdict", dictionaries[0], "--tgtdict", dictionaries[1], "--destdir", destination),
        )
        log = toy.generate(destination, run / f"{model}/checkpoint_last.pt", "--score-reference").stdout
        scores = toy.lines(log, "P")
        assert len(scores) == len(segments)
        # fairseq prints base 2, four decimals a word.
        costs.append({row: -math.log(2) * sum(map(float, line.split())) for row, line in scores.items()})
    for row, segment in enumerate(segments):
        assert segment["cost"] == pytest.approx((costs[0][row] + costs[1][row]) / 2, abs=2e-3)


def test_the_authors_search_and_options_can_be_chosen(run, tmp_path):
    translate(run, tmp_path, "--mode", "norm", "--shrinking-beam", "--copy-unknown-words", "--length-divisor", "paper")
    assert {path.name for path in tmp_path.iterdir()} == {"norm.txt", "norm.jsonl"}
    assert "unseen" in (tmp_path / "norm.txt").read_text().splitlines()[3].split()
    assert records(tmp_path / "norm.jsonl")[2]["cost"] == 1e9, "the paper's formula divides by zero for one word"


def test_batches_and_buffers_change_no_translation(run, out, tmp_path):
    options = (*inverse(run), "--max-span", "4", "--mode", "normrev")
    translate(run, tmp_path, *options, "--buffer-size", "1", "--batch-size", "2", "--max-tokens", "4")
    assert (tmp_path / "normrev.txt").read_text() == (out / "normrev.txt").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mode", "rev"), "--mode rev needs the inverse model"),
        (("--mode", "norm", "--inverse", "FORWARD"), "--mode norm has no use for an inverse model"),
        (("--mode", "default", "--length-divisor", "code"), "--mode default does not divide by the length"),
        (("--mode", "norm", "--max-span", "0"), "'0' is not a whole number above zero"),
        (("--mode", "norm", "--unkpen", "nan"), "argument --unkpen: 'nan' is no number, nor inf"),
        (("--mode", "norm", "--unkpen=-inf"), "argument --unkpen: '-inf' is no number, nor inf"),
        (("--mode", "norm", "--candidates", "4"), "--candidates 4 are more than a search with --beam 3 has"),
        (("--mode", "norm", "--forward", "nowhere.pt"), "nowhere.pt"),
        (("--mode", "norm", "--data", "."), "with the dictionaries of .: Could not infer language pair"),
        (("--inverse", "FORWARD"), "the forward model is src-tgt, so the inverse one must be tgt-src"),
    ],
)
def test_mistakes_in_a_call_are_named(run, tmp_path, options, message):
    options = [str(run / "forward/checkpoint_last.pt") if option == "FORWARD" else option for option in options]
    done = translate(run, tmp_path / "out", *options, check=False)
    assert done.returncode != 0 and message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_dictionaries_of_another_model_are_refused(run, tmp_path):
    for language in ("src", "tgt"):
        (tmp_path / f"dict.{language}.txt").write_text("other 1\n")
    done = translate(run, tmp_path / "out", "--mode", "norm", "--data", tmp_path, check=False)
    assert done.returncode != 0 and "cannot be loaded with the dictionaries of" in done.stderr


def test_a_line_that_is_not_utf_8_is_named(run, tmp_path):
    (tmp_path / "bad").write_bytes(b"w0\nw1 \xff\n")
    done = translate(run, tmp_path / "out", "--mode", "norm", "--input", tmp_path / "bad", check=False)
    assert done.returncode != 0 and "line 2: byte 4 is not UTF-8" in done.stderr


def test_the_input_is_not_overwritten(run, tmp_path):
    (tmp_path / "default.txt").write_text("w1 w2\n")
    done = translate(run, tmp_path, "--mode", "default", "--input", tmp_path / "default.txt", check=False)
    assert done.returncode == 1 and "default.txt would be overwritten: choose another --out" in done.stderr
    assert (tmp_path / "default.txt").read_text() == "w1 w2\n"
