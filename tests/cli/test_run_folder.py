"""A run folder may come from a stranger: what its file ``options`` says runs no code and sets no path."""

from pathlib import Path

import pytest

from tests.cli.recipes import command, run

RECORDED = {"SOURCE_LANG": "fr", "TARGET_LANG": "en", "SEGMENTATION": "bpe:100", "TOKENIZER": "moses", "LOWERCASE": ""}


def run_folder(folder, **lines):
    """The minimum that translate.sh, score.sh, and beam_curve.sh check before they start anything."""
    for path in ("text/raw/test.en", "text/segmentation.model", "systems/model/seed-1/trained", "checkpoint.pt"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    text = "".join(f"{name} {value}\n" for name, value in {**RECORDED, **lines}.items())
    (folder / "options").write_text(text)
    return folder


def calls(folder):
    """Every recipe that reads the options of a folder."""
    return {
        "translate.sh": command("translate.sh", folder, folder / "checkpoint.pt", "--dry-run"),
        "score.sh": command("score.sh", folder, "--system", "mine=file", "--dry-run"),
        "beam_curve.sh": command("beam_curve.sh", folder, "--beams", "1", "--dry-run"),
    }


@pytest.mark.parametrize("recipe", calls(Path()))
def test_other_variables_are_not_set(tmp_path, recipe):
    strangers = tmp_path / "strangers"
    for tool in ("bin/python", "bin/fairseq-interactive", "bin/recurrent-mt", "recurrent_mt/__main__.py", "sed"):
        (strangers / tool).parent.mkdir(parents=True, exist_ok=True)
        (strangers / tool).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (strangers / tool).chmod(0o755)
    names = ["ROOT", "VENV", "PATH", "BASH_ENV", "JOBS", "BEAM", "PLAN", "IFS", "DEVICE_FLAGS"]
    folder = run_folder(tmp_path / "run", **dict.fromkeys(names, strangers))
    assert str(strangers) not in run(calls(folder)[recipe])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("recipe", calls(Path()))
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SEGMENTATION", "bpe:a[$(touch ran)]"),
        ("SOURCE_LANG", "../../fr"),
        ("TARGET_LANG", "en --user-dir strangers"),
        ("TOKENIZER", "$(touch ran)"),
        ("LOWERCASE", "--out=/elsewhere"),
    ],
)
def test_a_value_that_no_recipe_writes_is_refused_by_name(tmp_path, recipe, name, value):
    folder = run_folder(tmp_path, **{name: value})
    text = run(calls(folder)[recipe], succeeds=False)
    assert f"{folder}/options has a line that no recipe wrote: {name} {value}" in text
    assert not (tmp_path / "ran").exists()


def test_a_missing_language_is_named(tmp_path):
    folder = run_folder(tmp_path)
    (folder / "options").write_text("SEGMENTATION bpe:100\nTARGET_LANG en\n")
    assert "has no line SOURCE_LANG" in run(calls(folder)["score.sh"], succeeds=False)
