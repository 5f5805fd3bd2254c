"""--skip-remainder-batch skips the last batch of an epoch and no other, wherever a training is resumed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from fairseq.data.iterators import EpochBatchIterator, GroupedIterator

from tests.cli import toy

pytestmark = pytest.mark.filterwarnings("ignore:'pin_memory'")
BATCHES = [[number] for number in range(11)]


class Numbers(torch.utils.data.Dataset):
    def __getitem__(self, index: int) -> int:
        return index

    def __len__(self) -> int:
        return len(BATCHES)


def epoch(seen: int, *, skips: bool = True, buffer: int = 0) -> EpochBatchIterator:
    """An iterator over eleven batches of which some have been seen."""
    options = {"skip_remainder_batch": skips, "reuse_dataloader": True, "buffer_size": buffer}
    iterator = EpochBatchIterator(Numbers(), list, BATCHES, disable_shuffling=True, **options)
    iterator.load_state_dict({"epoch": 1, "iterations_in_epoch": seen, "shuffle": False})
    return iterator


@pytest.mark.parametrize("buffer", [0, 3])
@pytest.mark.parametrize("seen", [0, 1, 4, 5, 6, 9, 10])
def test_all_batches_but_the_last_are_left(seen: int, buffer: int):
    iterator = epoch(seen, buffer=buffer)
    assert list(iterator.next_epoch_itr()) == BATCHES[seen:10]
    assert iterator.end_of_epoch()
    assert list(iterator.next_epoch_itr()) == BATCHES[:10]
    assert iterator.epoch == 2


@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("seen", range(11))
@pytest.mark.parametrize("size", [1, 3, 4])
def test_updates_take_all_groups_that_are_left(size: int, seen: int, skips: bool):
    """The batches that have been seen may have been in groups of another size."""
    iterator = epoch(seen, skips=skips)
    groups = GroupedIterator(iterator.next_epoch_itr(), size, skip_remainder_batch=skips)
    left = BATCHES[seen : 10 if skips else 11]
    expected = [left[start : start + size] for start in range(0, len(left), size)]
    if skips and expected and len(expected[-1]) < size:
        expected.pop()
    assert list(groups) == expected
    # Otherwise, fairseq would begin the same epoch again.
    assert iterator.end_of_epoch()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred sentences: seven batches of sixty tokens."""
    return toy.trained(tmp_path_factory) / "data"


def train(data: Path, save: Path, updates: int, *options: object) -> tuple[dict[str, torch.Tensor], str]:
    """The weights after so many updates, and the log."""
    batches = ("--max-tokens", 60, "--required-batch-size-multiple", 1, "--skip-remainder-batch", "--dropout", 0.2)
    done = toy.train(data, save, "--arch", "gru_encoder", *batches, "--max-update", updates, *options)
    return torch.load(save / "checkpoint_last.pt")["model"], done.stdout + done.stderr


@pytest.mark.parametrize(
    ("interruptions", "frequency"), [((2,), 1), ((4, 11), 1), ((1,), 3)], ids=["early", "late", "groups"]
)
def test_a_resumed_training_has_the_weights_of_an_uninterrupted_one(
    tmp_path: Path, data: Path, interruptions: tuple[int, ...], frequency: int
):
    last = 18 // frequency
    expected, log = train(data, tmp_path / "whole", last, "--update-freq", frequency)
    assert '"epoch": 3' in log
    for updates in (*interruptions, last):
        found, _ = train(data, tmp_path / "parts", updates, "--update-freq", frequency)
    assert found.keys() == expected.keys()
    assert all(found[name].equal(value) for name, value in expected.items())


def test_an_epoch_of_which_nothing_is_left_is_over(tmp_path: Path, data: Path):
    train(data, tmp_path, 2, "--update-freq", 2)
    _, log = train(data, tmp_path, 4, "--update-freq", 3)
    assert "nothing is left to train in epoch 1" in log
    assert "end of epoch 2" in log and "end of epoch 1" not in log


def test_epochs_without_an_update_are_refused(tmp_path: Path, data: Path):
    with pytest.raises(AssertionError) as ended:
        train(data, tmp_path, 2, "--update-freq", 50)
    message = "--skip-remainder-batch leaves nothing to train: an epoch has 7 batches with the last one"
    assert message in str(ended.value)
    assert "and an update takes 50 (--update-freq)" in str(ended.value)
