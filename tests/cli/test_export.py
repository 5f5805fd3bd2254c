"""recurrent-mt export, and translation with what it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from recurrent_mt.cli.translate import WITH_ONNXRUNTIME
from recurrent_mt.onnx_translation import OnnxModel, translate
from recurrent_mt.text_form import read_text_form
from tests.commands import call
from tests.once import build_once
from tests.translation.toy_box import ARCHITECTURES, PARAMETERS, write_run


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder with a run folder, and beside it one of its models, exported."""

    def build(folder: Path) -> Path:
        run = write_run(folder / "run", {"gru": ARCHITECTURES["gru"], "other": ARCHITECTURES["rnnenc"]})
        done = call("export", run / PARAMETERS.format("gru", 1), "--data", run / "data", "--out", folder / "exported")
        written = [line.split()[0].rpartition("/")[2] for line in done.stdout.splitlines()]
        assert written == ["decoder.onnx", "encoder.onnx"]
        return folder

    return build_once(tmp_path_factory, "exported", build)


def write_lines(file, lines):
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_exported_model_translates_the_text_of_its_run_folder(made, tmp_path, jobs):
    lines = ["s1, s2 s3", "", "s5", " \u200b ", "s0 never-seen", "s4 s4 s4 s4"]
    source = write_lines(tmp_path / "source", lines)
    words = ("translate", made / "run", made / "exported", "--beam", 3, "--input", source)
    done = call(*words, "--jobs", jobs, "--buffer-size", 2)
    assert (done.returncode, done.stderr) == (0, f"{WITH_ONNXRUNTIME}\n")
    model, form = OnnxModel(made / "exported"), read_text_form(made / "run")
    tokens = [form.read(line, "fr") for line in lines]
    # The longest translation depends on the longest sentence of a batch.
    found = [one[0] for start in (0, 2, 4) for one in translate(model, tokens[start : start + 2], beam=3)]
    texts = [form.write(one.text(model).split()) for one in found]
    assert done.stdout == "".join(f"{text if read else ''}\n" for text, read in zip(texts, tokens))
    assert call(*words, "--jobs", jobs, "--buffer-size", 2, "--out", tmp_path / "out").returncode == 0
    assert (tmp_path / "out").read_text() == done.stdout


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_line_that_is_too_long_for_an_exported_model_is_named_and_a_shorter_one_resumes(made, tmp_path, jobs):
    source = write_lines(tmp_path / "source", ["s1", "", "s1", "", "s2 " * 64])
    flags = ("--input", source, "--out", tmp_path / "out", "--buffer-size", 2, "--jobs", jobs)
    words = ("translate", made / "run", made / "exported", *flags)
    done = call(*words)
    said = "\nerror: line 5 has 65 words, </s> included; the model takes 64\n"
    assert done.returncode == 1 and done.stderr.endswith(said)
    write_lines(source, ["s1", "", "s1", "", "s2"])
    done = call("translate", made / "run", "gru", *flags)
    assert done.returncode == 1 and "4 lines were made with another model: " in done.stderr
    done = call(*words)
    assert done.returncode == 0 and f"Resuming {tmp_path}/out after line 4." in done.stderr
    text = (tmp_path / "out").read_text()
    assert [bool(line) for line in text.splitlines()] == [True, False, True, False, True]


@pytest.mark.parametrize("flags", [("--", "--lenpen", "2"), ("--dry-run",)])
def test_what_is_for_fairseq_is_refused_for_an_exported_model(made, flags):
    done = call("translate", made / "run", made / "exported", *flags)
    given = " ".join(flags).removeprefix("-- ")
    said = f"error: {given} is for fairseq, and onnxruntime translates with {made}/exported: leave it out, or name a "
    assert done.returncode == 2 and said in done.stderr


def test_an_exported_model_is_named_with_the_run_folder_that_its_words_are_of(made, tmp_path):
    done = call("translate", made / "exported")
    assert done.stderr.startswith(f"error: {made}/exported: it has no file named options: ")
    run = write_run(tmp_path / "run", {})
    (run / "data").mkdir(exist_ok=True)
    for language in ("fr", "en"):
        (run / f"data/dict.{language}.txt").write_text((made / f"run/data/dict.{language}.txt").read_text())
    with (run / "data/dict.en.txt").open("a") as file:
        file.write("another 1\n")
    # RUN needs no models of its own for an exported one.
    done = call("translate", run, tmp_path)
    assert done.stderr == f"error: there is no checkpoint or exported model {tmp_path}\n"
    done = call("translate", run, made / "exported")
    said = f"dict.en.txt: {made}/exported has other words: it is of another run, or target.txt in it is damaged"
    assert done.returncode == 1 and said in done.stderr


def test_with_a_shortlist_an_exported_model_writes_its_words_alone(made, tmp_path):
    run, out = made / "run", tmp_path / "onnx"
    (tmp_path / "list").write_text("s1\tt3\n</s>\t</s>\n")
    words = ("export", run / PARAMETERS.format("gru", 1), "--data", run / "data", "--out", out, "--int8")
    assert call(*words, "--shortlist", tmp_path / "list").returncode == 0
    translated = ("translate", run, out, "--input", write_lines(tmp_path / "source", ["s1 s2"]))
    done = call(*translated)
    assert done.returncode == 0 and set(done.stdout.split()) <= {"t3", "⁇", "<s>"}
    (out / "shortlist.tsv").write_text("s1\tt4\n</s>\t</s>\n")
    done = call(*translated)
    assert done.returncode == 1 and "shortlist.tsv: it is not the file that was exported" in done.stderr
    (tmp_path / "list").write_text("s1\tnowhere\n")
    done = call(*words, "--shortlist", tmp_path / "list")
    assert done.returncode == 1 and "list, line 1: 'nowhere' is not in the target dictionary" in done.stderr
    # Exported without one, the folder has none.
    assert call(*words).returncode == 0
    assert call(*translated).returncode == 0
