"""recurrent-mt shortlist as users call it, and a search with what it writes."""

import pytest

from tests.cli import toy
from tests.commands import call
from tests.compat.repairs import commands
from tests.kernels.batches import needs_native


@needs_native
def test_a_search_scores_what_a_trained_model_has_listed(tmp_path_factory, tmp_path):
    trained, file = toy.learned(tmp_path_factory), tmp_path / "shortlist.tsv"
    data, model = trained / "data", trained / "save/checkpoint_best.pt"
    text = ("--source", trained / "train.src", "--target", trained / "train.tgt")
    sizes = ("--words", 1, "--always", 0)
    done = call("shortlist", "--checkpoint", model, "--data", data, *text, *sizes, "--out", file)
    assert done.returncode == 0 and f"source words: {file}" in done.stdout
    lists = dict(line.split("\t") for line in file.read_text().splitlines())
    assert lists["w1"] == "W1" and lists["</s>"] == "</s>"
    options = ("--task", "native_translation", "--shortlist", file)
    printed = commands.generate(data, model, *options)
    listed = {word for targets in lists.values() for word in targets.split()}
    found = toy.lines(printed, "H").values()
    assert len(found) == 20 and {word for line in found for word in line.split()} <= listed
    with pytest.raises(ValueError, match="--shortlist does not go with --print-alignment"):
        commands.generate(data, model, *options, "--print-alignment", "hard")
