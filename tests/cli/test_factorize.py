"""recurrent-mt factorize as users call it: a trained model made low-rank, and fine-tuned."""

from __future__ import annotations

from tests.cli import toy
from tests.commands import call
from tests.compat.repairs import commands


def factorize(checkpoint, rank, folder):
    """The shares that products keep of the matrices, and the file that is made."""
    *lines, _, file = call("factorize", "--checkpoint", checkpoint, "--rank", rank, "--save-dir", folder).stdout.split(
        "\n"
    )[:-1]
    assert lines[0].split() == ["matrix", "shape", "rank", "kept", "numbers", "before"] and len(lines) == 1 + 10
    return [float(line.split()[5]) for line in lines[1:]], file


def test_a_model_is_made_low_rank_and_tuned(tmp_path_factory, tmp_path):
    trained = toy.learned(tmp_path_factory)
    full = trained / "save/checkpoint_last.pt"
    assert factorize(full, 96, tmp_path / "exact") == ([1.0] * 10, str(tmp_path / "exact/checkpoint.pt"))
    kept, low = factorize(full, 8, tmp_path / "low")
    assert all(0 < share < 1 for share in kept)
    options = ("--encoder-bidirectional", "--finetune-from-model", low, "--gru-rank", 8, "--max-update", 2)
    tuned = commands.train(trained / "data", tmp_path / "tuned", *options)
    assert tuned["optimizer_history"][-1]["num_updates"] == 2
