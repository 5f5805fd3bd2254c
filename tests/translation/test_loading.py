"""Which model is loaded, and the sentences in which others are refused."""

import json
import re
import shutil
from importlib.metadata import EntryPoint
from importlib.util import find_spec

import numpy as np
import pytest

from recurrent_mt.text_files import FileError
from recurrent_mt.translation import box, load_model
from tests.commands import call
from tests.once import build_once
from tests.translation.toy_box import write_box, write_run

TEXT = "s1 s2 s3"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return build_once(tmp_path_factory, "toy-box", lambda folder: write_box(folder / "box"))


@pytest.fixture(scope="module")
def model(installed):
    return load_model(installed)


@pytest.fixture
def boxes(monkeypatch, installed):
    found = {"fr-en": installed}
    monkeypatch.setattr(box, "list_boxes", lambda: found)
    return found


def test_a_box_has_a_default_and_others_by_name(boxes):
    assert load_model().name == load_model("fr-en").name == "gru"
    assert load_model(system="grconv").translator.has_gates
    with pytest.raises(ValueError, match=r"there is no system lstm of .*: it has gru, grconv, rnnenc"):
        load_model("fr-en", "lstm")


def test_the_run_of_a_link_is_that_which_it_is_in_then_that_which_it_leads_to(tmp_path):
    for name in ("run", "trainings"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "options").touch()
    (tmp_path / "trainings" / "model.pt").touch()
    for place in (tmp_path, tmp_path / "run"):
        (place / "link.pt").symlink_to(tmp_path / "trainings" / "model.pt")
    assert box.find_run([tmp_path / "link.pt"]) == tmp_path / "trainings"
    assert box.find_run([tmp_path / "run" / "link.pt"]) == tmp_path / "run"


def test_a_run_folder_with_several_systems_needs_a_name(tmp_path):
    run = write_run(tmp_path / "run")
    with pytest.raises(ValueError, match=r"name a system of .*run: it has grconv, gru, rnnenc"):
        load_model(run)
    assert load_model(run, "rnnenc").languages == ("fr", "en")


def test_without_a_box_one_line_says_what_to_do(monkeypatch):
    monkeypatch.setattr(box, "list_boxes", dict)
    message = r"no models in a box are installed: pip install \./pretrained/fr-en"
    with pytest.raises(FileNotFoundError, match=f"^{message}"):
        load_model()
    for tool in ("translate", *(["demo"] if find_spec("gradio") else [])):
        done = call(tool)
        assert done.returncode == 1 and re.fullmatch(f"error: {message}.*\n", done.stderr)


def test_a_box_may_say_nothing(tmp_path):
    said = box.Manifest("gru", "French to English", {"gru": "A GRU."})
    box.write_manifest(tmp_path, said)
    assert box.read_box(tmp_path) == said
    values = json.loads((tmp_path / "box.json").read_text())
    (tmp_path / "box.json").write_text(json.dumps({name: values[name] for name in ("format", "default")}))
    assert box.read_box(tmp_path) == ("gru", "", {}) and box.read_box(tmp_path / "none") == (None, "", {})


def test_of_several_boxes_one_has_to_be_named_unless_one_is_the_projects_first(boxes, installed, tmp_path):
    boxes["de-en"] = tmp_path
    assert box.find_folder(None) == installed
    boxes["fr-de"] = boxes.pop("fr-en")
    with pytest.raises(ValueError, match="name one of de-en, fr-de"):
        load_model()
    assert load_model("fr-de").name == "gru"


def test_what_is_neither_file_nor_box_is_named_with_the_boxes_that_there_are(boxes, installed):
    missing = "there is no checkpoint, run folder, or installed box nowhere: "
    boxes["fr-de"] = installed
    with pytest.raises(FileNotFoundError, match=f"^{missing}the installed boxes: fr-en, fr-de$"):
        load_model("nowhere")
    for words in ("translate nowhere", "translate nowhere model.pt", "translate nowhere onnx"):
        assert call(*words.split()).stderr == f"error: {missing}the installed boxes: fr-en, fr-de\n"
    boxes.clear()
    with pytest.raises(FileNotFoundError, match=f"^{missing}no box is installed$"):
        load_model("nowhere")


def test_a_box_is_found_beside_the_folder_of_its_name_that_it_was_installed_from(boxes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fr-en" / "recurrent_mt_fr_en").mkdir(parents=True)
    assert load_model("fr-en").name == "gru"
    shutil.rmtree("fr-en")
    write_run(tmp_path / "fr-en")
    assert load_model("fr-en", "rnnenc").form.folder == tmp_path / "fr-en"


def test_finding_a_box_runs_no_code_of_it(monkeypatch, tmp_path):
    package = tmp_path / "planted_box"
    package.mkdir()
    (package / "__init__.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (package / "inner").mkdir()
    for folder in (package, package / "inner"):
        (folder / "box.json").write_text("{}")
    monkeypatch.syspath_prepend(tmp_path)
    points = [EntryPoint(name, name, box.GROUP) for name in ("planted_box", "planted_box.inner", "absent_box")]
    monkeypatch.setattr(box, "entry_points", lambda group: points)
    assert box.list_boxes() == {"planted_box": package}
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "this is no manifest of a box"),
        ('{"format": "recurrent-mt-box-2"}', "and 'recurrent-mt-box-1' is read"),
    ],
)
def test_a_damaged_manifest_is_refused_by_its_name(tmp_path, text, message):
    (tmp_path / "box.json").write_text(text)
    with pytest.raises(FileError, match=message):
        box.read_box(tmp_path)


def test_attention_and_gates_are_refused_where_there_are_none(boxes):
    model = load_model(system="rnnenc")
    with pytest.raises(ValueError, match="rnnenc has no attention"):
        model.align(TEXT)
    with pytest.raises(ValueError, match="rnnenc has no gates to show: only a grConv has them"):
        model.gates(TEXT)


def test_translations_and_alignments_are_those_of_a_reading(model):
    reading = model.read(TEXT, beam=3, count=2)
    assert model.search(TEXT, beam=3, count=2) == reading.hypotheses
    assert model.translate(TEXT, beam=3) == reading.hypotheses[0].text
    assert (model.align(TEXT, beam=3).weights == reading.alignment.weights).all()
    given = model.align(TEXT, "t1 t2")
    assert given.target == ("t1", "t2", "</s>") and given.weights.shape == (3, 4)


def test_words_of_a_given_translation_are_what_they_are_and_a_model_writes_unknown_ones_as_in_its_text(model):
    assert model.align(TEXT, "t1 never-seen").target == ("t1", "never-seen", "</s>")
    (found,) = model.find(model.split(TEXT), beam=1, length_penalty=1, count=1)
    written = found._replace(tokens=["<unk>", *found.tokens[1:]])
    target = model.align_tokens(model.split(TEXT), written).target
    assert target[0] == "⁇" == model.write(written.tokens)[0]


def test_a_search_has_a_beam(model):
    with pytest.raises(ValueError, match="beam and count must be at least 1, not 0 and 5"):
        model.search(TEXT, beam=0)
    assert model.read(TEXT, beam=np.int64(2), count=np.int64(1)).hypotheses


def test_characters_that_moses_escapes_are_shown_as_they_are(boxes):
    models = {name: load_model(system=name) for name in ("gru", "grconv")}
    text = "l'été & <nous>"
    words = ("l'", "été", "&", "<", "nous", ">", "</s>")
    assert models["gru"].align(text, text).source == words
    assert models["grconv"].gates(text).leaves == words
    assert tuple(word.text for word in models["gru"].read(text).source) == words
    assert "'" in [word.text for word in models["gru"].score(text, "the members' vote")]
    assert models["gru"].cut(text)[0].source == "l'"


def test_a_list_of_sentences_has_a_list_of_translations_and_one_without_words_an_empty_one(model):
    first, second = model.translate("s1 s2"), model.translate("s3")
    assert first and second
    assert model.translate(["s1 s2", "", "s3", " \u200b"], beam=5) == [first, "", second, ""]
    assert model.translate("") == "" and model.translate([]) == []
    with pytest.raises(ValueError, match=r"^sentence 2: This has 1,200 tokens"):
        model.translate(["s1", "s1 " * 1200])


def test_what_needs_words_says_so(model):
    for ask in (model.search, model.align, model.read, model.cut):
        with pytest.raises(ValueError, match=r"^the sentence has no words$"):
            ask(" ")
    with pytest.raises(ValueError, match=r"^the translation has no words$"):
        model.score("s1", "")
