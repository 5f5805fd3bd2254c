"""The command line, with small untrained models of both directions."""

import json

import pytest
import torch
from fairseq.tasks.translation import TranslationTask

from tests.checkpoints.checkpoints import write_checkpoint
from tests.commands import call
from tests.models import building
from tests.once import build_once

LINES = ["s0 s1 s2 s3 s4 s5 s6 s7 s0 s1", "", "s3", "s2 unseen s1", "s5 s5 s6"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with a model of each direction, each beside its dictionaries, and an input."""

    def build(folder):
        there = building.task()
        back = TranslationTask(there.cfg, there.target_dictionary, there.source_dictionary)
        write_model(folder / "forward", there, ("src", "tgt"))
        write_model(folder / "inverse", back, ("tgt", "src"))
        (folder / "input").write_text("".join(line + "\n" for line in LINES))
        return folder

    return build_once(tmp_path_factory, "segmentation", build)


def write_model(folder, task, languages):
    """A model whose translations depend on the source, and whose checkpoint does not say its languages."""
    folder.mkdir()
    state = torch.load(write_checkpoint(folder, "gru_encoder", languages, task, decoder_attention="none"))
    torch.manual_seed(4)
    for parameter in state["model"].values():
        parameter.normal_(std=0.9)
    state["model"]["decoder.output_projection.bias"][task.target_dictionary.bos()] = -100
    state["cfg"]["task"].update(source_lang=None, target_lang=None)
    (folder / f"test.{'-'.join(languages)}.src.idx").touch()
    torch.save(state, folder / "checkpoint.pt")


def translate(run, out, *options):
    """Calls the tool on the input of the folder."""
    model = ("--forward", run / "forward/checkpoint.pt", "--data", run / "forward")
    files = ("--input", run / "input", "--out", out, "--beam", 3)
    return call("translate-segmented", *model, *files, *options)


def inverse(run):
    """The options of the inverse model, whose checkpoint does not say its languages: its data's files do."""
    return "--inverse", run / "inverse/checkpoint.pt", "--inverse-data", run / "inverse"


@pytest.fixture(scope="module")
def out(run, tmp_path_factory):
    """What the four modes write."""

    def build(folder):
        done = translate(run, folder / "out", *inverse(run), "--max-span", "4")
        assert done.returncode == 0, done.stderr
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
    """s1@@ is no word of the model's, but a piece of one with what follows it."""
    (tmp_path / "input").write_text("s1 s2@@ s3 s4@@ s5@@ s6 s7\n")
    translate(run, tmp_path / "out", "--input", tmp_path / "input", "--max-span", 1)
    (record,) = records(tmp_path / "out" / "norm.jsonl")
    assert [segment["source"] for segment in record["segments"]] == ["s1", "s2@@ s3", "s4@@ s5@@ s6", "s7"]
    assert [(segment["start"], segment["end"]) for segment in record["segments"]] == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_without_an_inverse_model_the_modes_that_need_none_are_written_the_same(run, out, tmp_path):
    translate(run, tmp_path, "--max-span", 4)
    assert {path.name for path in tmp_path.iterdir()} == {"default.txt", "default.jsonl", "norm.txt", "norm.jsonl"}
    for path in tmp_path.iterdir():
        assert path.read_text() == (out / path.name).read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--data", "."), "with the dictionaries of .: Could not infer language pair"),
        (("--inverse", "FORWARD"), "the forward model is src-tgt, so the inverse one must be tgt-src"),
    ],
)
def test_mistakes_in_a_call_are_named(run, tmp_path, options, message):
    options = [str(run / "forward/checkpoint.pt") if option == "FORWARD" else option for option in options]
    done = translate(run, tmp_path / "out", *options)
    assert done.returncode != 0 and message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_input_is_not_overwritten(run, tmp_path):
    (tmp_path / "default.txt").write_text("s1 s2\n")
    done = translate(run, tmp_path, "--input", tmp_path / "default.txt")
    assert done.returncode == 1 and "default.txt would be overwritten: choose another --out" in done.stderr
    assert (tmp_path / "default.txt").read_text() == "s1 s2\n"
