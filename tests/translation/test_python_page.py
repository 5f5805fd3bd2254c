"""The examples of docs/guides/python.md, in their order, with small models in place of those in the box."""

import re
import shutil

import pytest

from recurrent_mt.runs.folder import PARAMETERS
from recurrent_mt.translation import box
from tests.commands import REPOSITORY
from tests.translation.toy_box import write_box, write_run

PAGE = REPOSITORY / "docs" / "guides" / "python.md"


def test_every_example_of_the_page_runs(monkeypatch, tmp_path, capsys):
    installed = write_box(tmp_path / "box")
    run = write_run(tmp_path / "runs" / "quickstart-fr-en")
    (run / "systems" / "gru").rename(run / "systems" / "gru_encoder-additive")
    (tmp_path / "checkpoints").mkdir()
    shutil.copy(installed / PARAMETERS.format("rnnenc", 1), tmp_path / "checkpoints" / "checkpoint_best.pt")
    shutil.copytree(installed / "data", tmp_path / "data")
    texts = dict.fromkeys(("test.fr", "test.en", "mine.en"), "he sleeps very well")
    texts |= {"theirs-1.en": "she sleeps", "theirs-2.en": "he sleeps"}
    for name, line in texts.items():
        (tmp_path / name).write_text(f"{line} .\n" * 12)
    monkeypatch.setattr(box, "list_boxes", lambda: {"fr-en": installed})
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), names)
    assert len(examples) >= 8
    assert {"alignment.svg", "gates.svg", "cuts.svg", "bleu-by-source-length.svg"} <= {
        path.name for path in tmp_path.iterdir()
    }
    sums = [names[kind]["log_probability"].sum() for kind in ("words", "tokens")]
    assert sums[0] == pytest.approx(sums[1])
    assert list(names["models"]) == ["gru", "grconv", "rnnenc"]
    assert names["bleu"]["value"].tolist()[0] == pytest.approx(100)
