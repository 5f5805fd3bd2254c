"""recurrent-mt export, and translation with what it writes."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from recurrent_mt.onnx_translation import OnnxModel, translate
from tests.checkpoints.checkpoints import small_checkpoint
from tests.cli.test_run_folder import run_folder
from tests.commands import REPOSITORY, call


def test_an_exported_model_translates_a_file_of_tokens(tmp_path):
    small_checkpoint(tmp_path, "gru_encoder", decoder_attention="additive")
    done = call("export", tmp_path / "checkpoint.pt", "--data", tmp_path, "--out", tmp_path / "onnx")
    assert [line.split()[0].rpartition("/")[2] for line in done.stdout.splitlines()] == ["decoder.onnx", "encoder.onnx"]
    sentences = ["s1 s2 s3", "", "s5", "s0 never-seen", "s4 s4 s4 s4"]
    (tmp_path / "source").write_text("".join(f"{line}\n" for line in sentences))
    words = ("translate-onnx", tmp_path / "onnx", "--beam", 3, "--max-words", 9, "--input", tmp_path / "source")
    printed = call(*words).stdout
    model = OnnxModel(tmp_path / "onnx")
    expected = [found[0].text(model) for found in translate(model, sentences, beam=3, max_words=9)]
    assert printed == "".join(f"{line}\n" for line in expected)
    assert call(*words, "--out", tmp_path / "out", "--batch", 2).returncode == 0
    assert (tmp_path / "out").read_text() == printed


def test_with_a_shortlist_an_exported_model_writes_its_words_alone(tmp_path):
    small_checkpoint(tmp_path, "min_gru_encoder", decoder_attention="additive")
    (tmp_path / "list").write_text("s1\tt3\n</s>\t</s>\n")
    words = ("export", tmp_path / "checkpoint.pt", "--data", tmp_path, "--out", tmp_path / "onnx", "--int8")
    assert call(*words, "--shortlist", tmp_path / "list").returncode == 0
    (tmp_path / "source").write_text("s1 s2\n")
    done = call("translate-onnx", tmp_path / "onnx", "--max-words", 5, "--input", tmp_path / "source")
    assert set(done.stdout.split()) <= {"t3", "<unk>", "<s>"}
    (tmp_path / "onnx" / "shortlist.tsv").write_text("s1\tt4\n</s>\t</s>\n")
    done = call("translate-onnx", tmp_path / "onnx", "--input", tmp_path / "source")
    assert done.returncode == 1 and "shortlist.tsv: it is not the file that was exported" in done.stderr
    (tmp_path / "list").write_text("s1\tnowhere\n")
    done = call(*words, "--shortlist", tmp_path / "list")
    assert done.returncode == 1 and "list, line 1: 'nowhere' is not in the target dictionary" in done.stderr
    # Exported without one, the folder has none.
    assert call(*words).returncode == 0
    assert call("translate-onnx", tmp_path / "onnx", "--max-words", 5, "--input", tmp_path / "source").returncode == 0


def test_a_model_that_was_exported_before_translates_still():
    """The layout recurrent-mt-onnx-1 is that of the box here."""
    model = OnnxModel(REPOSITORY / "pretrained/fr-en/recurrent_mt_fr_en/onnx", threads=1)
    ((first, *_),) = translate(model, ["Le Parlement a adopté la résolution ."], beam=2)
    assert first.text(model) == "Parliament adopted the resolution ."


def test_export_names_a_missing_checkpoint(tmp_path):
    done = call("export", "nowhere.pt", "--data", tmp_path, "--out", tmp_path)
    assert done.returncode == 1 and "there is no checkpoint nowhere.pt" in done.stderr


def test_translate_onnx_takes_utf_8_lines_that_end_in_a_line_feed(monkeypatch, tmp_path):
    taken = []
    model = SimpleNamespace(source_words={})
    monkeypatch.setattr("recurrent_mt.onnx_translation.OnnxModel", lambda folder, threads: model)
    monkeypatch.setattr(
        "recurrent_mt.onnx_translation.translate", lambda model, lines, **options: taken.extend(lines) or []
    )
    text = io.TextIOWrapper(io.BytesIO("été\rhiver\n\nlast".encode()), encoding="latin-1")
    monkeypatch.setattr(sys, "stdin", text)
    assert call("translate-onnx", tmp_path).returncode == 0
    assert taken == ["été hiver", "", "last"]


def test_translate_onnx_names_lines_that_are_new_to_the_model(monkeypatch, tmp_path, caplog):
    run_folder(tmp_path, TOKENIZER="none")  # with BPE
    for language, word in {"fr": "a", "en": "t"}.items():
        (tmp_path / f"data/dict.{language}.txt").write_text(f"{word} 1\n")
    (tmp_path / "source").write_text("a\n\na \N{SNOWMAN}\n")
    model = SimpleNamespace(source_words={"a": 4}, target_words=["</s>", "t"])
    monkeypatch.setattr("recurrent_mt.onnx_translation.OnnxModel", lambda folder, threads: model)
    found = [SimpleNamespace(text=lambda model: "t")]
    monkeypatch.setattr("recurrent_mt.onnx_translation.translate", lambda model, lines, **_: [found] * len(lines))
    monkeypatch.setattr("recurrent_mt.cli.translate_onnx.find_export", lambda place: place)
    done = call("translate-onnx", "--run", tmp_path, "--input", tmp_path / "source")
    assert done.stdout == "t\n\nt\n"
    assert "line 3 (\N{SNOWMAN} is new to the model): the model has not learned" in caplog.text
    model.target_words = ["</s>", "u"]
    refused = call("translate-onnx", "--run", tmp_path, "--input", tmp_path / "source")
    assert refused.returncode == 1
    assert f"dict.en.txt: {tmp_path} has other words: it was exported from a model of another run" in refused.stderr


NEW = "chien is new to the model, which reads subwords: for raw text, name its run folder with --run"


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("▁un ▁chien", NEW),
        ("un ch@@ ien", NEW),
        ("un chat", None),
        ("un chien ch@@", None),
    ],
)
def test_translate_onnx_notices_raw_text_that_it_takes_for_tokens(known, said, monkeypatch, tmp_path, caplog):
    model = SimpleNamespace(source_words=dict.fromkeys(["un", *known.split()]))
    monkeypatch.setattr("recurrent_mt.onnx_translation.OnnxModel", lambda folder, threads: model)
    monkeypatch.setattr("recurrent_mt.onnx_translation.translate", lambda model, lines, **_: [])
    (tmp_path / "source").write_text("un\n\nun chien\n")
    assert call("translate-onnx", tmp_path, "--input", tmp_path / "source").returncode == 0
    assert caplog.messages == ([said] if said else [])


def test_translate_onnx_counts_empty_lines_where_it_names_a_sentence(monkeypatch, tmp_path):
    run_folder(tmp_path, TOKENIZER="none")
    (tmp_path / "source").write_text("a\n\na a a\n")
    model = SimpleNamespace(numbers=str.split, longest_source=2)
    monkeypatch.setattr("recurrent_mt.onnx_translation.OnnxModel", lambda folder, threads: model)
    monkeypatch.setattr("recurrent_mt.cli.translate_onnx.check_words", lambda model, form, folder: None)
    monkeypatch.setattr("recurrent_mt.text_form.TextForm.unfamiliar", lambda form, tokens: None)
    done = call("translate-onnx", tmp_path, "--run", tmp_path, "--input", tmp_path / "source")
    assert "sentence 3 has 3 words, </s> included; the model takes 2" in done.stderr


def test_translate_onnx_does_not_overwrite_its_input(tmp_path):
    (tmp_path / "text").write_text("a\n")
    done = call("translate-onnx", tmp_path, "--input", tmp_path / "text", "--out", tmp_path / "text")
    assert done.returncode == 1 and f"{tmp_path}/text would be overwritten: choose another --out" in done.stderr
    assert (tmp_path / "text").read_text() == "a\n"
    (tmp_path / "decoder.onnx").write_bytes(b"weights")
    done = call("translate-onnx", tmp_path, "--input", tmp_path / "text", "--out", tmp_path / "decoder.onnx")
    assert done.returncode == 1 and "decoder.onnx would be overwritten" in done.stderr
    assert (tmp_path / "decoder.onnx").read_bytes() == b"weights"


@pytest.mark.parametrize("option", ["--beam", "--batch", "--max-words"])
def test_translate_onnx_rejects_a_number_below_one(option, tmp_path):
    done = call("translate-onnx", tmp_path, option, 0)
    assert done.returncode == 2 and f"argument {option}: '0' is not a whole number above zero" in done.stderr
