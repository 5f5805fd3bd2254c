"""``recurrent-mt pack``: what is in a box, what is not, and that it translates wherever it is installed."""

import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml

from recurrent_mt.cli import pack, translate
from recurrent_mt.metrics import Score
from recurrent_mt.runs.folder import PARAMETERS
from recurrent_mt.text_files import FileError
from recurrent_mt.text_form import TextForm
from recurrent_mt.translation import load_model, load_models
from recurrent_mt.translation.box import list_boxes, read_box
from recurrent_mt.translation.distribution import BoxDescription, Card, read_description, render_card
from tests.checkpoints.checkpoints import small_checkpoint
from tests.commands import call, run
from tests.once import build_once
from tests.translation.toy_box import write_run
from user_dir.checkpoints.checkpoint import Checkpoint
from user_dir.checkpoints.halving import write_half_precision
from user_dir.cli.average import average_checkpoints

SYSTEM = {"summary": "A toy.", "training": "fairseq-train data"}
DESCRIPTION = {
    **{"name": "toy", "title": "A toy", "data": "None.", "commit": "abc", "limits": "All."},
    **{"examples": {"s1 s2": "t1"}, "mistakes": {"s3": "no model writes this"}},
    "systems": {"gru": SYSTEM, "grconv": SYSTEM, "rnnenc": SYSTEM},
}
TEXT = "s1 s2 s3"


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The folder with the run and the box made of it."""

    def build(folder: Path) -> Path:
        made = write_run(folder / "run")
        # A training leaves the places of its machine behind, and the optimizer's state.
        for name in ("gru", "grconv"):
            file = made / PARAMETERS.format(name, 1)
            state = torch.load(file, weights_only=True)
            state["cfg"]["checkpoint"]["save_dir"] = "/srv/someone/checkpoints"
            state["cfg"]["common"]["user_dir"] = "/srv/someone/user_dir"
            state["last_optimizer_state"] = {"exp_avg": torch.zeros(100_000)}
            state["optimizer_history"][-1]["num_updates"] = 1234
            torch.save(state, file)
        (folder / "toy.yaml").write_text(yaml.safe_dump(DESCRIPTION, sort_keys=False))
        for language in ("fr", "en"):
            (folder / f"test.{language}").write_text("s1 s2\n")
        with pytest.MonkeyPatch.context() as patch:
            score = Score("BLEU", 12.345, "nrefs:1|case:mixed")
            # What a word alone names depends on what is in the folder of the call.
            patch.setattr(pack, "score_system", lambda form, command, test: Path(command[2]).exists() and score)
            test = f"news={folder}/test.fr,{folder}/test.en"
            models = [f"{name}={made / PARAMETERS.format(name, 1)}" for name in ("grconv", "gru")]
            words = ("--run", made, "--out", folder / "box", *models, "--test", test)
            done = call("pack", folder / "toy.yaml", *words)
        assert done.returncode == 0, done.stderr
        return folder

    return build_once(tmp_path_factory, "packed", build)


@pytest.fixture
def box(packed):
    return packed / "box" / "recurrent_mt_toy"


def test_a_box_has_what_it_takes_to_translate_and_no_more(box):
    files = {str(path.relative_to(box)) for path in box.rglob("*") if path.is_file()}
    onnx = {f"onnx/{name}" for name in ("encoder.onnx", "decoder.onnx", "manifest.json", "source.txt", "target.txt")}
    systems = {f"systems/{name}/card.md" for name in ("gru", "grconv")}
    systems |= {PARAMETERS.format(name, 1) for name in ("gru", "grconv")}
    text = {file.format(language) for language in ("fr", "en") for file in ("text/raw/test.{}", "data/dict.{}.txt")}
    assert files == {"__init__.py", "box.json", "options"} | text | onnx | systems


def test_nothing_in_it_names_a_place_of_the_machine(packed, box):
    for path in (packed / "box").rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert not any(place in data for place in (b"/srv/", str(packed).encode())), path


def test_parameters_are_of_16_bits_and_the_optimizer_is_gone(packed, box):
    file = box / PARAMETERS.format("gru", 1)
    state = torch.load(file, weights_only=True)
    assert {parameter.dtype for parameter in state["model"].values()} == {torch.float16}
    assert state["last_optimizer_state"] is None
    assert file.stat().st_size < (packed / "run" / PARAMETERS.format("gru", 1)).stat().st_size - 400_000


def test_packed_models_score_as_before_but_for_rounding(packed, box):
    assert list(load_models(box)) == ["gru", "grconv"]
    for name, packed_model in load_models(box).items():
        assert packed_model.summary and packed_model.summary in (box / f"systems/{name}/card.md").read_text()
        before = load_model(packed / "run", name)
        scores = [[word.log_probability for word in one.score(TEXT, "t1 t2 t3")] for one in (before, packed_model)]
        assert scores[0] == pytest.approx(scores[1], abs=0.01)
        assert packed_model.translator.model.encoder.embed_tokens.weight.dtype == torch.float32


def test_shared_embeddings_are_stored_once(tmp_path):
    sizes = {"decoder_embed_dim": 8, "decoder_out_embed_dim": 8}
    small_checkpoint(tmp_path, "gru_encoder", share_decoder_input_output_embed=True, **sizes)
    facts = write_half_precision(tmp_path / "checkpoint.pt", tmp_path / "half.pt")
    model = torch.load(tmp_path / "half.pt", weights_only=True)["model"]
    shared = [model[f"decoder.{name}.weight"].data_ptr() for name in ("embed_tokens", "output_projection")]
    assert shared[0] == shared[1]
    average_checkpoints([tmp_path / "checkpoint.pt"] * 2, tmp_path / "mean.pt")
    averaged = write_half_precision(tmp_path / "mean.pt", tmp_path / "half-mean.pt")
    loaded = Checkpoint(tmp_path / "mean.pt", tmp_path).model
    assert facts.parameters == averaged.parameters == sum(one.numel() for one in loaded.parameters())


def test_a_number_beyond_half_precision_is_refused(packed, tmp_path):
    state = torch.load(packed / "run" / PARAMETERS.format("rnnenc", 1), weights_only=True)
    state["model"]["decoder.embed_tokens.weight"][3, 2] = 1e6
    torch.save(state, tmp_path / "large.pt")
    with pytest.raises(ValueError, match=r"decoder\.embed_tokens\.weight has numbers that half precision cannot hold"):
        write_half_precision(tmp_path / "large.pt", tmp_path / "half.pt")
    assert not (tmp_path / "half.pt").exists()


def test_cards_say_where_a_model_comes_from_and_what_it_scores(packed, box):
    card = (box / "systems" / "gru" / "card.md").read_text()
    for text in ("A toy.", "1,234 updates", "commit abc", "| BLEU, news | 12.3 |", "`nrefs:1|case:mixed`", "All."):
        assert text in card
    page = (packed / "box" / "README.md").read_text()
    assert "gru/card.md), as ONNX in eight bits |" in page and page.index("**gru**") < page.index("**grconv**")


def test_cards_show_what_a_model_makes_of_sentences(box):
    written = load_model(box, "gru").translate("s3")
    assert f"| s3 | no model writes this | {written} |" in (box / "systems" / "gru" / "card.md").read_text()
    card = Card("gru", 16, "gru_encoder", 1, 1, 1, 1, {}, ["t1", "t2"])
    page = render_card(BoxDescription.model_validate(DESCRIPTION), card)
    assert "gets right\n\n| sentence | translation |\n| --- | --- |\n| s1 s2 | t1 |\n\n" in page
    assert "gets wrong\n\n| sentence | meaning | translation |\n| --- | --- | --- |\n| s3 | no model" in page


@pytest.mark.slow
def test_an_installed_box_translates_by_default(packed, tmp_path, monkeypatch):
    """The lines of README's first screen."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    done = subprocess.run([*pip, "--target", tmp_path, packed / "box"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    own = list_boxes()
    monkeypatch.syspath_prepend(tmp_path)
    assert list_boxes() == {**own, "toy": tmp_path / "recurrent_mt_toy"}

    def translate_text(*words):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{TEXT}\n\n".encode())))
        return call("translate", *words)

    translated = translate_text(*(["toy"] if own else []))  # the project's own is meant without a name
    said = f"{translate.WITH_PYTORCH}\n"
    assert translated.returncode == 0 and translated.stderr == said, translated.stderr
    model = load_model(packed / "box" / "recurrent_mt_toy")
    assert translated.stdout == f"{model.translate(TEXT)}\n\n"


@pytest.fixture
def without_fairseq(monkeypatch):
    """An environment in which it is not installed, nor anything else that a test adds."""
    missing = {"fairseq"}
    monkeypatch.setattr(translate, "find_spec", lambda name: name not in missing)
    return missing


def test_without_fairseq_the_exported_model_of_a_box_translates_unless_another_is_named(without_fairseq, box, tmp_path):
    file = text(tmp_path, f"{TEXT}\n\ns3")
    done, named, placed = (
        call("translate", *words, "--input", file) for words in ((box,), (box, "onnx"), (box, box / "onnx"))
    )
    assert done.returncode == 0 and done.stdout == named.stdout == placed.stdout and done.stdout.count("\n") == 3
    assert done.stderr == named.stderr == placed.stderr == f"{translate.WITH_ONNXRUNTIME}\n"
    without_fairseq.clear()
    assert call("translate", box, "onnx", "--input", file).stdout == named.stdout
    assert call("translate", box, "--input", file, "--dry-run").returncode == 0


def text(folder, line):
    (folder / "line").write_text(f"{line}\n")
    return folder / "line"


def test_without_fairseq_what_only_fairseq_can_do_is_refused(without_fairseq, box, packed, tmp_path):
    """And a file of the exported model is not overwritten."""
    for words in ((box, "grconv"), (packed / "run", "gru"), (packed / "run",)):
        done = call("translate", *words)
        assert done.returncode == 1 and done.stderr.startswith("error: this needs fairseq 0.12.2, which is not ins")
        assert done.stderr.endswith(
            "without it, exported models translate: of a box, recurrent-mt translate BOX onnx\n"
        )
    for name, said in (("onnx", f"{packed}/run has no model as ONNX: name "), ("typo", "there is no system typo of ")):
        assert call("translate", packed / "run", name).stderr.startswith(f"error: {said}")
    out = box / "onnx" / "decoder.onnx"
    refused = call("translate", box, "--input", text(tmp_path, TEXT), "--out", out)
    assert refused.stderr == f"error: {out} would be overwritten: choose another --out\n"


def test_the_box_translates_without_fairseq_and_torch(box, tmp_path):
    program = (
        "import sys; sys.modules.update(dict.fromkeys(('fairseq', 'torch', 'onnx')));"
        "from recurrent_mt.cli.command import main; sys.exit(main(sys.argv[1:]))"
    )
    done = run("python", "-c", program, "translate", box, text=f"{TEXT}\n\n")
    assert done.returncode == 0 and done.stderr == f"{translate.WITH_ONNXRUNTIME}\n", done.stderr
    assert done.stdout.endswith("\n\n") and done.stdout.count("\n") == 2
    assert done.stdout == call("translate", box, "onnx", "--input", text(tmp_path, f"{TEXT}\n")).stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limits": 3}, r"toy\.yaml: (.|\n)*limits\n  Input should be a valid string"),
        ({"name": "../toy"}, r"name\n  String should match pattern"),
        ({"title": 'a "b"'}, r"title\n  String should match pattern"),
        ({"examples": {" ": "No"}}, "should have at least 1"),
        ({"systems": {"../gru": SYSTEM}}, r"systems\S*\.\./gru\S*\n  String should match pattern"),
    ],
)
def test_a_description_that_lacks_something_is_refused_by_its_key(tmp_path, change, message):
    (tmp_path / "toy.yaml").write_text(yaml.safe_dump({**DESCRIPTION, **change}))
    with pytest.raises(FileError, match=message):
        read_description(tmp_path / "toy.yaml")


def test_a_box_of_lowercase_text_is_scored_without_case(tmp_path, monkeypatch):
    def translate(line, *, check):
        Path(line[-1]).write_text("the cat sat down here\n")
        return subprocess.CompletedProcess(line, 0)

    monkeypatch.setattr(pack.subprocess, "run", translate)
    for name in ("source", "reference"):
        (tmp_path / name).write_text("The cat sat down here\n")
    test = pack.PackedTest("news", tmp_path / "source", tmp_path / "reference")
    scores = [
        pack.score_system(TextForm(tmp_path, "fr", "en", None, "none", lowercase, False), ["translate"], test)
        for lowercase in (False, True)
    ]
    assert scores[0].value < scores[1].value == pytest.approx(100)
    assert "case:mixed" in scores[0].signature and "case:lc" in scores[1].signature


def test_a_folder_with_something_else_is_left_alone(packed, tmp_path):
    (tmp_path / "work.txt").write_text("years of it")
    model = f"gru={packed / 'run' / PARAMETERS.format('gru', 1)}"
    done = call("pack", packed / "toy.yaml", model, "--run", packed / "run", "--out", tmp_path)
    assert done.returncode == 1 and "holds something else than the box toy" in done.stderr
    done = call("pack", packed / "toy.yaml", "lstm=x.pt", "--run", packed / "run", "--out", tmp_path)
    assert "describes no system lstm: it has gru, grconv, rnnenc" in done.stderr


def test_a_box_stays_until_the_new_one_is_whole(packed, tmp_path):
    box = tmp_path / "box"
    shutil.copytree(packed / "box", box)
    package = box / "recurrent_mt_toy"
    (package / "former").touch()
    listed = sorted(box.rglob("*"))
    words = ("pack", packed / "toy.yaml", "--no-onnx", "--out", box)
    done = call(*words, "--run", packed / "run", f"gru={tmp_path}/typo.pt")
    assert done.returncode == 1 and "there is no checkpoint" in done.stderr
    assert sorted(box.rglob("*")) == listed and not list(tmp_path.glob("*.partial"))
    # A box is a run folder: a new one may be made of it, in its place.
    done = call(*words, "--run", package, f"gru={package / PARAMETERS.format('gru', 1)}")
    assert done.returncode == 0, done.stderr
    assert (package / "box.json").is_file() and not (package / "former").exists()
    assert [path.name for path in (package / "systems").iterdir()] == ["gru"]


def test_the_model_that_a_description_calls_onnx_is_stored_so_alone(packed, box, tmp_path):
    (tmp_path / "toy.yaml").write_text(yaml.safe_dump({**DESCRIPTION, "onnx": "gru"}, sort_keys=False))
    models = {name: f"{name}={packed / 'run' / PARAMETERS.format(name, 1)}" for name in ("gru", "grconv")}
    words = ("pack", tmp_path / "toy.yaml", "--run", packed / "run", "--out", tmp_path / "box")
    for given in ([models["gru"]], [models["grconv"]], [models["gru"], "--no-onnx"]):
        refused = f"error: {tmp_path}/toy.yaml calls gru onnx: give its checkpoint, and another one\n"
        assert call(*words, *given).stderr == refused
    assert call(*words, *models.values()).returncode == 0
    folder = tmp_path / "box" / "recurrent_mt_toy"
    assert read_box(folder).default == "grconv" and list(load_models(folder)) == ["grconv"]
    # The same files, by their checksums.
    assert (folder / "onnx" / "manifest.json").read_text() == (box / "onnx" / "manifest.json").read_text()
    assert call("translate", folder, "onnx", "--input", text(tmp_path, TEXT)).returncode == 0
    page = (tmp_path / "box" / "README.md").read_text()
    assert page.count("systems/gru/card.md") == page.count("systems/gru/card.md), as ONNX in eight bits") == 1
    assert "stored in 8 bits: " in (folder / "systems" / "gru" / "card.md").read_text()
    assert call(*words, *models.values(), "--no-onnx").returncode == 0 and not (folder / "onnx").exists()


def test_a_model_of_another_text_is_refused(packed, tmp_path):
    torch.manual_seed(0)
    small_checkpoint(tmp_path, "gru_encoder", ("en", "fr"))
    words = ("pack", packed / "toy.yaml", "--no-onnx", "--run", packed / "run", "--out", tmp_path / "box")
    done = call(*words, f"gru={tmp_path / 'checkpoint.pt'}")
    assert done.returncode == 1 and not (tmp_path / "box").exists()
    assert f"error: {tmp_path}/checkpoint.pt is not of the text of {packed}/run: " in done.stderr


def test_pip_takes_the_folder_that_is_named_for_a_folder_and_what_it_has_built_of_an_earlier_box_goes(
    packed, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for folder in ("build/lib/recurrent_mt_toy/systems/grconv", "recurrent_mt_toy"):
        (tmp_path / "a box" / folder).mkdir(parents=True)
    model = f"gru={packed / 'run' / PARAMETERS.format('gru', 1)}"
    words = ("--no-onnx", "--run", packed / "run", model, "--out", "a box")
    assert call("pack", packed / "toy.yaml", *words).stdout.endswith(" MB. pip install './a box'\n")
    assert not (tmp_path / "a box" / "build").exists()
