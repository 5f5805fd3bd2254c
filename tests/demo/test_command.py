"""``recurrent-mt demo``: which models it finds, and the sentences in which it refuses."""

import logging
import shutil
from types import SimpleNamespace

import pytest

from recurrent_mt.cli import demo
from recurrent_mt.runs.folder import PARAMETERS
from recurrent_mt.translation import box, loading
from tests.commands import call


def refuse(*words):
    done = call("demo", *words)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize(("installed", "alone"), [({"fairseq"}, "pip install 'gradio>=6,<7', or "), ({}, "")])
def test_without_gradio_one_line_says_what_to_install(monkeypatch, installed, alone):
    monkeypatch.setattr(demo, "find_spec", lambda name: name in installed or None)
    message = refuse("model.pt")
    assert message == f"error: the page needs Gradio, which is not installed: {alone}scripts/setup.sh --demo\n"


def test_what_is_not_there_is_named(module, tmp_path):
    assert f"there is no checkpoint, run folder, or installed box {tmp_path}/none" in refuse(tmp_path / "none")
    assert f"{tmp_path} is no run folder with trained systems" in refuse(tmp_path)


def test_a_page_that_is_served_says_that_it_loads_and_then_its_address(module, paths, monkeypatch, caplog):
    pages, serve = [], module.serve
    monkeypatch.setattr(module, "serve", lambda page, **where: pages.append(page) or serve(page, **where))

    def end():
        pages[0].close()
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "threading", SimpleNamespace(Event=lambda: SimpleNamespace(wait=end)))
    caplog.set_level(logging.INFO)
    done = call("demo", paths["fixed"])
    loads, address = done.stdout.splitlines()[:2]
    assert done.returncode == 0 and loads == "Loading the models …" and address.startswith("http://127.0.0.1:")
    assert [record.name for record in caplog.records if record.name.startswith("http")] == []


def test_a_checkpoint_without_dictionaries_is_refused_with_where_they_would_be(module, paths, tmp_path):
    shutil.copy(paths["fixed"], tmp_path / "checkpoint.pt")
    message = refuse(tmp_path / "checkpoint.pt")
    assert f"checkpoint.pt has no dictionaries: dict.LANG.txt is not in {tmp_path}; name their folder" in message


def test_a_checkpoint_of_another_language_pair_than_its_run_is_refused(module, paths, tmp_path):
    shutil.copytree(paths["fixed"].parent, tmp_path / "run" / "data")
    (tmp_path / "run" / "options").write_text("SOURCE_LANG zh\nTARGET_LANG en\nSEGMENTATION word:9\n")
    message = refuse(tmp_path / "run" / "data" / "checkpoint.pt")
    assert "checkpoint.pt translates src-tgt, but" in message and "run is zh-en" in message


class Loaded:
    """A translator of which nobody asks more than its languages."""

    def __init__(self, *languages):
        self.languages = languages


@pytest.fixture
def boxes(tmp_path, monkeypatch):
    """Three boxes with a system of the same name, the last of which does not know its languages."""
    languages = {"fr-en": ("fr", "en"), "zh-en": ("zh", "en"), "old": loading.UNNAMED}

    def load(name, path, data=None):
        (place,) = set(path.parts) & set(languages)
        form = demo.TextForm(tmp_path / place, *languages[place], "word", "none", lowercase=False, truecased=False)
        return loading.Model(name, Loaded(*languages[place]), form, form)

    monkeypatch.setattr(loading, "load_checkpoint", load)
    folders = {name: tmp_path / name for name in languages}
    for name, folder in folders.items():
        file = folder / "systems" / "gru" / "seed-1" / "checkpoints" / "checkpoint_best.pt"
        file.parent.mkdir(parents=True)
        file.touch()
        (folder / "options").touch()
        box.write_manifest(folder, box.Manifest("gru", f"{name} from debates" if name != "old" else ""))
    return folders


def test_without_a_name_all_installed_boxes_have_a_page_each(module, boxes, monkeypatch):
    monkeypatch.setattr(box, "list_boxes", lambda: {name: boxes[name] for name in ("fr-en", "zh-en")})
    demos = demo.make_demos([], None)
    assert [one.languages for one in demos] == [("fr", "en"), ("zh", "en")]
    assert [[system.name for system in one.systems] for one in demos] == [["gru"], ["gru"]]
    assert [one.texts for one in demos] == [{f"{name} from debates": ["gru"]} for name in ("fr-en", "zh-en")]


def test_models_that_do_not_know_their_languages_stand_beside_those_of_the_only_pair(module, boxes):
    """The authors' imported models do not."""
    (both,) = demo.make_demos([boxes["fr-en"], boxes["old"]], None)
    names = [system.name for system in both.systems]
    assert both.languages == ("fr", "en") and len(set(names)) == 2
    assert both.texts == {"fr-en from debates": names[:1], f"trained on the text of {boxes['old']}": names[1:]}
    assert len(demo.make_demos(list(boxes.values()), None)) == 3


@pytest.fixture
def run_folder(tmp_path):
    for system, seed in (("lstm", 10), ("lstm", 2), ("gru_encoder-none", 1)):
        file = tmp_path / "run" / "systems" / system / f"seed-{seed}" / "checkpoints" / "checkpoint_best.pt"
        file.parent.mkdir(parents=True)
        file.touch()
    return tmp_path / "run"


def test_a_run_folder_is_the_first_seed_of_each_system(run_folder):
    found = loading.find_checkpoints(run_folder)
    assert [file.relative_to(run_folder / "systems").parts[:2] for file in found] == [
        ("gru_encoder-none", "seed-1"),
        ("lstm", "seed-2"),
    ]
    assert loading.name_checkpoints(found) == ["gru_encoder-none", "lstm"]


def test_checkpoints_of_one_name_are_told_apart_and_not_by_a_place_of_the_machine(run_folder, tmp_path):
    files = sorted((run_folder / "systems" / "lstm").glob("seed-*/checkpoints/checkpoint_best.pt"))
    assert loading.name_checkpoints(files) == ["lstm, seed 10", "lstm, seed 2"]
    with pytest.raises(ValueError, match="is given twice"):
        loading.name_checkpoints([files[0], files[0]])
    files = [tmp_path / name / PARAMETERS.format("gru", 1) for name in ("news", "debates")]
    assert loading.name_checkpoints([*files, tmp_path / "own" / "a.pt"]) == ["news/gru", "debates/gru", "own/a.pt"]


def test_the_test_set_of_a_run_is_offered_with_its_references(run_folder):
    (run_folder / "text" / "raw").mkdir(parents=True)
    (run_folder / "text" / "raw" / "test.fr").write_text("Il dort .\n\nElle  dort.\n")
    (run_folder / "text" / "raw" / "test.en").write_text("He sleeps.\nNothing.\nShe sleeps.\n")
    form = demo.TextForm(run_folder, "fr", "en", "word", "moses", lowercase=False, truecased=False)
    assert demo.read_examples(form) == {"Il dort .": "He sleeps.", "Elle dort.": "She sleeps."}
