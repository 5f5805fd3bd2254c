"""recurrent-mt factorize as users call it: a trained model made low-rank, used to translate, and fine-tuned."""

from __future__ import annotations

import re

import pytest

from tests.cli import toy


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return toy.trained(tmp_path_factory)


def factorize(*arguments, check=True):
    return toy.run("recurrent-mt", "factorize", *arguments, check=check)


def test_full_rank_translates_alike_and_a_lower_rank_can_be_tuned(trained, tmp_path):
    full = trained / "save/checkpoint_last.pt"
    done = factorize("--checkpoint", full, "--rank", 96, "--save-dir", tmp_path / "exact")
    lines = done.stdout.splitlines()
    assert len(lines) == 1 + 3 + 4 + 2 and lines[-1] == str(tmp_path / "exact/checkpoint.pt")
    assert [line.split()[5] for line in lines[1:-2]] == ["1.0000"] * 7
    expected, exact = (toy.generate(trained / "data", path).stdout for path in (full, lines[-1]))
    assert toy.lines(exact, "D") == toy.lines(expected, "D")
    scores = [[float(x) for x in re.findall(r"^H-\d+\t(\S+)", log, flags=re.M)] for log in (exact, expected)]
    assert len(scores[0]) == 20 and scores[0] == pytest.approx(scores[1], abs=1e-3)

    low = factorize("--checkpoint", full, "--rank", 8, "--save-dir", tmp_path / "low").stdout.splitlines()
    kept = [float(line.split()[5]) for line in low[1:-2]]
    assert len(kept) == 7 and all(0 < share < 1 for share in kept)
    options = ("--arch", "gru_encoder", "--finetune-from-model", low[-1], "--gru-rank", 8, "--max-update", 2)
    log = toy.train(trained / "data", tmp_path / "tuned", *options).stdout
    assert (tmp_path / "tuned/checkpoint_last.pt").is_file() and '"train_num_updates": "2"' in log


def test_factorize_names_a_missing_checkpoint(tmp_path):
    done = factorize("--checkpoint", "nowhere.pt", "--rank", 2, "--save-dir", tmp_path, check=False)
    assert done.returncode == 1 and "there is no checkpoint nowhere.pt" in done.stderr
