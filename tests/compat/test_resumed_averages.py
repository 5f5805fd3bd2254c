"""--store-ema --ema-update-freq N averages after the same updates, wherever a training is interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from fairseq.dataclass.configs import EMAConfig
from fairseq.models.ema.ema import EMA

from tests.cli import toy

AVERAGED = ("--store-ema", "--ema-decay", 0.5, "--ema-update-freq", 3)


def test_a_resumed_training_has_the_averages_of_an_uninterrupted_one(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
):
    data = toy.trained(tmp_path_factory) / "data"

    def averages(save: Path, updates: int) -> dict[str, torch.Tensor]:
        toy.train(data, save, "--arch", "gru_encoder", "--max-update", updates, *AVERAGED)
        return torch.load(save / "checkpoint_last.pt")["extra_state"]["ema"]

    expected = averages(tmp_path / "whole", 7)
    averages(tmp_path / "parts", 2)
    found = averages(tmp_path / "parts", 7)
    assert found.keys() == expected.keys()
    assert all(found[name].equal(value) for name, value in expected.items())


@pytest.mark.parametrize("frequency", [1, 2, 3])
@pytest.mark.parametrize("first", [1, 2, 3, 4])
def test_the_updates_that_count_are_multiples(first: int, frequency: int):
    """A process that begins with any update counts the same; without a number of updates, it counts its own."""
    averages = EMA(torch.nn.Linear(1, 1), EMAConfig(store_ema=True, ema_update_freq=frequency))
    counted: list[int | None] = []
    averages._step_internal = lambda model, updates=None: counted.append(updates)
    for updates in range(first, 9):
        averages.step(averages.model, updates)
    assert counted == [updates for updates in range(first, 9) if updates % frequency == 0]
    averages.update_freq_counter, counted[:] = 0, []
    for _ in range(6):
        averages.step(averages.model)
    assert counted == [None] * (6 // frequency)
