"""docs/lesson.ipynb: the first half with small models, and, marked slow, all of it as a class runs it."""

import json
import re
import shlex
import shutil
from importlib.util import find_spec

import pytest

from recurrent_mt.translation import box
from tests.commands import REPOSITORY
from tests.translation.toy_box import write_box

LESSON = REPOSITORY / "docs" / "lesson.ipynb"
#: Where the second half begins.
TRAINING = "## 6. Train"


def read_cells():
    """Kind and text of each cell."""
    return [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(LESSON.read_text())["cells"]]


def without_commands(text):
    """Python without the lines that are Jupyter's."""
    return re.sub(r"^( *)[%!].*$", r"\1pass", text, flags=re.MULTILINE)


def solutions():
    """The code of the folded solutions."""
    found = [re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) for _, text in read_cells()]
    return [code for one in found for code in one]


def test_the_first_half_and_the_solutions_run_with_small_models(monkeypatch, tmp_path):
    installed = write_box(tmp_path / "box")
    monkeypatch.setattr(box, "list_boxes", lambda: {"fr-en": installed})
    monkeypatch.chdir(REPOSITORY / "docs")
    cells = read_cells()
    (end,) = [number for number, (_, text) in enumerate(cells) if TRAINING in text]
    codes = [text for kind, text in cells[:end] if kind == "code"]
    assert len(codes) >= 8 and len(solutions()) == 5
    names: dict = {}
    for code in [*codes, *solutions()]:
        exec(compile(without_commands(code), str(LESSON), "exec"), names)
    assert all([cut.words for cut in found] == list(range(1, 30, 2)) for found in names["cuts"].values())
    # Nine words, and the end of the sentence.
    assert len(names["table"]) == 10


def test_its_outputs_name_no_error():
    for cell in json.loads(LESSON.read_text())["cells"]:
        for output in cell.get("outputs", []):
            assert output["output_type"] != "error", output


def test_its_training_takes_a_folder_with_a_space():
    (line,) = re.findall(r"^!cd .* experiment .*$", "\n".join(text for _, text in read_cells()), re.MULTILINE)
    words = shlex.split(re.sub(r"\{.*?\}", "/my folder", line), comments=True)
    assert words[1] == words[3] == "/my folder" and "out=/my folder" in words


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
    assert {path.name for path in (tmp_path / "a run" / "systems").iterdir()} == {
        "gru_encoder-additive",
        "gru_encoder-none",
    }
    shutil.rmtree(tmp_path / "a run")
