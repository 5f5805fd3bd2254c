"""docs/lesson.ipynb: every cell and solution with small models, and, marked slow, all of it as a class runs it."""

import json
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

from recurrent_mt.runs.experiment import read_experiment
from recurrent_mt.translation import box
from tests.commands import REPOSITORY
from tests.evaluation.logs import train_log, write
from tests.translation.toy_box import write_box, write_run

LESSON = REPOSITORY / "docs" / "lesson.ipynb"
#: What the lesson trains, as small models.
SYSTEMS = {
    "gru_encoder-none": ("gru_encoder", {"decoder_attention": "none"}),
    "gru_encoder-additive": ("gru_encoder", {"decoder_attention": "additive", "encoder_bidirectional": True}),
    "gru_encoder-additive+decoder-cell=min_gru+decoder-readout=linear": (
        "gru_encoder",
        {"decoder_attention": "additive", "decoder_cell": "min_gru", "decoder_readout": "linear"},
    ),
}
#: Sentences of two lengths, ten of each: fewer have no point in a figure.
FRENCH = ["s1 s2 s3 s4 s5"] * 10 + ["s1 s2 s3 s4 s5 s6 " * 2] * 10
ENGLISH = ["t1 t2 t3 t4 t5 t6"] * 10 + ["t1 t2 t3 t4 t5 t6 " * 2] * 10


def read_cells():
    """Kind and text of each cell."""
    return [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(LESSON.read_text())["cells"]]


def read_codes():
    """The code of cells and of folded solutions in the order of the page, without the lines that are Jupyter's."""
    for kind, text in read_cells():
        found = [text] if kind == "code" else re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        for code in found:
            yield re.sub(r"^( *)[%!].*$", r"\1pass", code, flags=re.MULTILINE)


def write_trained(run):
    """A run folder as the lesson's training leaves it."""
    write_run(run, SYSTEMS)
    raw = run / "text" / "raw"
    raw.mkdir(parents=True)
    write(raw / "test.fr", FRENCH)
    write(raw / "test.en", ENGLISH)
    for system in SYSTEMS:
        folder = run / "systems" / system / "seed-1"
        write(folder / "train.log", train_log())
        write(folder / "test.detokenized", ENGLISH)


class Display:
    """What Jupyter's ``display`` is called with; itself the handle that it returns."""

    def __init__(self):
        self.shown = []

    def __call__(self, shown, **_):
        self.shown.append(shown)
        return self

    def update(self, shown, *, raw):
        assert raw and len(shown["text/plain"].splitlines()) <= 3


class FakeRecipe:
    """A subprocess that trains nothing."""

    returncode = 0
    stdout = ("Training gru_encoder-none, seed 1: begins\n", "done\n")

    def __init__(self, command, **options):
        self.command, self.options = command, options

    def __enter__(self):
        FakeRecipe.called = self
        return self

    def __exit__(self, *_):
        pass


def test_every_cell_and_solution_runs_with_small_models(monkeypatch, tmp_path):
    installed = write_box(tmp_path / "box")
    (tmp_path / "pretrained").mkdir()
    write_trained(tmp_path / "runs" / "lesson")
    monkeypatch.setattr(box, "list_boxes", lambda: {"fr-en": installed})
    monkeypatch.setattr(subprocess, "Popen", FakeRecipe)
    monkeypatch.chdir(tmp_path)
    display = Display()
    names: dict = {"display": display}
    for code in read_codes():
        exec(compile(code, str(LESSON), "exec"), names)
    assert all([cut.words for cut in found] == list(range(1, 30, 2)) for found in names["cuts"].values())
    # Nine words, and the end of the sentence.
    assert len(names["table"]) == 10
    described = [alt for shown in display.shown for alt in re.findall('<img alt="(.*?)"', shown.get("text/html", ""))]
    assert len(described) == 5 and all(len(alt) > 60 for alt in described)
    # The recipe and its options are those of a real experiment.
    file, *options = FakeRecipe.called.command[4:-2]
    experiment = read_experiment(REPOSITORY / file, options)
    assert sorted(experiment.systems) == sorted(SYSTEMS) and experiment.out == str(tmp_path / "runs" / "lesson")


def test_in_colab_it_asks_for_the_one_address_that_it_clones(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "google.colab", object())
    monkeypatch.chdir(tmp_path)
    first = next(code for kind, code in read_cells() if kind == "code")
    assert re.findall(r"\{(\w+)\}", first) == ["REPOSITORY"] and first.count('REPOSITORY = ""\n') == 1
    with pytest.raises(AssertionError, match="set REPOSITORY, in this cell, to the address"):
        exec(next(read_codes()), {})


@pytest.mark.slow
def test_the_lesson_runs_from_top_to_bottom(tmp_path):
    """With the installed box; trains for minutes."""
    nbclient = pytest.importorskip("nbclient", reason="the lesson runs where nbclient is: scripts/setup.sh --lesson")
    if find_spec("ipykernel") is None:
        pytest.skip("the lesson runs where ipykernel is: scripts/setup.sh --lesson")
    if not box.list_boxes():
        pytest.skip("no models in a box are installed: pip install ./pretrained/fr-en")
    import nbformat

    lesson = nbformat.read(LESSON, as_version=4)
    # In a run folder of its own, so that a training of before counts for nothing.
    for cell in lesson.cells:
        cell.source = cell.source.replace('RUN = ROOT / "runs" / "lesson"', f"RUN = Path({str(tmp_path / 'a run')!r})")
    client = nbclient.NotebookClient(lesson, timeout=3600, resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute()
    assert {path.name for path in (tmp_path / "a run" / "systems").iterdir()} == set(SYSTEMS)
    shutil.rmtree(tmp_path / "a run")
