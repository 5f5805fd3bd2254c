"""A run folder may come from a stranger: what its file ``options`` says runs no code and sets no path."""

import io
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from recurrent_mt.cli import translate
from recurrent_mt.text_files import FileError
from recurrent_mt.text_form import TextForm
from recurrent_mt.translation.box import copy_text_form
from tests.cli.recipes import ROOT, command, environment, run
from tests.commands import call, command_line

RECORDED = {"SOURCE_LANG": "fr", "TARGET_LANG": "en", "SEGMENTATION": "bpe:100", "TOKENIZER": "moses", "LOWERCASE": ""}


def run_folder(folder, **lines):
    """The minimum that translate and compare check before they start anything."""
    for path in ("text/raw/test.en", "data/dict.en.txt", "systems/model/seed-1/trained", "checkpoint.pt"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    (folder / "text/raw/test.en").write_text("a sentence\n")
    text = "".join(f"{name} {value}\n" for name, value in {**RECORDED, **lines}.items())
    (folder / "text/segmentation.model").write_text("#version: 0.2\na b\n")
    (folder / "options").write_text(text)
    return folder


#: What reads the options of a folder.
TOOLS = ("translate", "compare")


def words(tool, folder):
    """What it is called with."""
    if tool == "compare":
        return ["--jobs=1", folder, f"mine={folder}/text/raw/test.en"]
    return ["--dry-run", folder, folder / "checkpoint.pt"]


def test_a_run_folder_sets_no_variable_that_is_not_an_option(tmp_path):
    strangers = tmp_path / "strangers"
    for tool in ("bin/python", "bin/fairseq-interactive", "bin/recurrent-mt", "recurrent_mt/__main__.py", "sed"):
        (strangers / tool).parent.mkdir(parents=True, exist_ok=True)
        (strangers / tool).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (strangers / tool).chmod(0o755)
    names = ["ROOT", "VENV", "PATH", "BASH_ENV", "JOBS", "BEAM", "PLAN", "IFS", "DEVICE_FLAGS"]
    folder = run_folder(tmp_path / "run", **dict.fromkeys(names, strangers))
    line = command_line("recurrent-mt", "translate", *words("translate", folder))
    result = subprocess.run(line, env=environment(), capture_output=True, text=True)
    assert result.returncode == 0 and str(strangers) not in result.stdout + result.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("tool", TOOLS)
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
def test_a_run_folder_with_a_value_that_no_recipe_writes_is_refused_by_name(tmp_path, tool, name, value, monkeypatch):
    folder = run_folder(tmp_path, **{name: value})
    monkeypatch.chdir(tmp_path)
    refused = call(tool, *words(tool, folder))
    assert refused.returncode == 1
    assert f"{folder}/options, line " in refused.stderr
    assert f"no recipe writes this: {name} {value}" in refused.stderr
    assert not (tmp_path / "ran").exists()


def test_a_run_folder_without_a_language_is_refused_by_name(tmp_path):
    folder = run_folder(tmp_path)
    (folder / "options").write_text("SEGMENTATION bpe:100\nTARGET_LANG en\n")
    assert "it has no line SOURCE_LANG" in call("compare", *words("compare", folder)).stderr


def test_modules_in_the_working_directory_are_not_run(tmp_path):
    for module in ("recurrent_mt/__init__.py", "recurrent_mt/__main__.py", "argparse.py", "hydra.py"):
        (tmp_path / module).parent.mkdir(exist_ok=True)
        (tmp_path / module).write_text("open('ran', 'w')\n")
    line = command("train.sh", "--dry-run", ROOT / "configs/rnnsearch-50.yaml", "task.data=DATA")
    assert "--arch gru_encoder" in run(line, cwd=tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("tool", TOOLS)
def test_options_may_stand_before_and_behind_the_folder_and_flags_come_last(tmp_path, tool):
    flag, *names = words(tool, run_folder(tmp_path))
    orders = [flag, *names], [*names, flag], [names[0], flag, *names[1:]]
    flags = ["--", "--lenpen", "0.5", flag] if tool == "translate" else ["--metrics", "bleu"]
    said = [call(tool, *order, *flags) for order in orders]
    assert {done.returncode for done in said} == {0}
    assert len({(done.stdout, done.stderr.partition("--input")[0]) for done in said}) == 1
    if tool == "translate":
        assert all(f"--lenpen 0.5 {flag}\n" in done.stdout + done.stderr for done in said)


def test_known_words_are_read_where_data_is_in_shards(tmp_path):
    (tmp_path / "data" / "shard0").mkdir(parents=True)
    (tmp_path / "data" / "shard0" / "dict.fr.txt").write_text("aujourd'hui 3\n")
    form = TextForm(tmp_path, "fr", "en", "word", "none", lowercase=False, truecased=True)
    assert form.split("Aujourd'hui", "fr") == "aujourd'hui"


def test_known_words_are_whole_where_the_dictionary_has_pieces(tmp_path):
    """A run of the synthetic corpus with BPE: neither joins pieces of BPE, nor do they tell what is lower case."""
    form = TextForm(tmp_path, "zh", "fr", "bpe", "none", lowercase=False, truecased=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "text" / "words").mkdir(parents=True)
    for language, words in {"zh": "我们 管理 动物", "fr": "aujourd'hui le chat"}.items():
        (tmp_path / "data" / f"dict.{language}.txt").write_text("管@@ 3\nau@@ 3\n")
        (tmp_path / "text" / "words" / f"train.{language}").write_text(f"{words}\n")
    assert form.split("我们管理动物", "zh") == "我们 管理 动物"
    assert form.split("Aujourd'hui", "fr") == "aujourd'hui"
    shutil.rmtree(tmp_path / "text" / "words")
    with pytest.raises(FileError, match=r"text/words/train\.fr: there is no such file"):
        replace(form, lowercase=True).split("le", "fr")


def test_a_box_counts_pieces_of_the_source_in_a_dictionary_of_both_languages(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "text" / "prepared").mkdir(parents=True)
    form = TextForm(tmp_path, "fr", "en", "bpe", "none", lowercase=False, truecased=False)
    form.model.write_text("#version: 0.2\n")
    for language, words in {"fr": "le chat\nle <unk>", "en": "the cat"}.items():
        (tmp_path / "data" / f"dict.{language}.txt").write_text("the 9\nle 9\n<unk> 9 #fairseq:overwrite\nchat 1\n")
        (tmp_path / "text" / "prepared" / f"train.{language}").write_text(f"{words}\n")
    options = {**form.record(), "SEGMENTATION": "bpe:9"}
    (tmp_path / "options").write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    box = copy_text_form(tmp_path, tmp_path / "data", tmp_path / "box").folder / "data"
    assert (box / "dict.fr.txt").read_text() == "the 0\nle 2\n<unk> 1 #fairseq:overwrite\nchat 1\n"
    assert (box / "dict.en.txt").read_text() == (tmp_path / "data" / "dict.en.txt").read_text()


@pytest.mark.parametrize("given", ["file", "stdin"])
@pytest.mark.parametrize("text", ["un\rdeux\u2028trois\n\nquatre\n", "un\n\nquatre", ""])
def test_as_many_translations_as_lines_that_end_in_a_line_feed(text, given, tmp_path, monkeypatch):
    monkeypatch.setattr(
        *(translate, "translate_lines"),
        lambda form, options, lines: (
            translate.TranslatedChunk("x\n", number, "", [], []) for number, _ in enumerate(lines, 1)
        ),
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    (tmp_path / "input").write_bytes(text.encode())
    flags = ["--input", tmp_path / "input"] if given == "file" else []
    said = call("translate", *words("translate", run_folder(tmp_path / "run"))[1:], *flags)
    assert said.stdout == "x\n" * (3 if text else 0)


def test_a_sentence_that_is_not_utf_8_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"un\ntrois\xff\n")))
    said = call("translate", *words("translate", run_folder(tmp_path))[1:])
    assert said.returncode == 1 and "standard input, line 2: byte 6 is not UTF-8" in said.stderr
