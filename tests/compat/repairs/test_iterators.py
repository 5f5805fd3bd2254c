"""Which batches an epoch has, shuffled or not, wherever a training is resumed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from fairseq.data.iterators import EpochBatchIterator, GroupedIterator

from .commands import train

pytestmark = pytest.mark.filterwarnings("ignore:'pin_memory'")
BATCHES = [[2 * number, 2 * number + 1] for number in range(20)]


class Numbers(torch.utils.data.Dataset):
    def __getitem__(self, index: int) -> int:
        return index

    def __len__(self) -> int:
        return 40


class Prefetched(Numbers):
    supports_prefetch = True

    def prefetch(self, indices: list[int]) -> None:
        pass


def epochs(dataset: Numbers, **options: object) -> EpochBatchIterator:
    return EpochBatchIterator(dataset, list, BATCHES, seed=1, **options)


def read(iterator: EpochBatchIterator, curriculum: int, count: int, **options: bool) -> list[list[list[int]]]:
    """The batches of the next epochs, asked for as fairseq-train does."""
    return [
        list(iterator.next_epoch_itr(shuffle=iterator.next_epoch_idx > curriculum, **options)) for _ in range(count)
    ]


@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize("curriculum", [0, 1, 9])
def test_epochs_after_the_curriculum_are_shuffled(curriculum: int, reuse: bool):
    found = read(epochs(Numbers(), reuse_dataloader=reuse), curriculum, 4)
    assert [batches == BATCHES for batches in found] == [epoch <= curriculum for epoch in range(1, 5)]
    assert all(sorted(batches) == BATCHES for batches in found)
    # Each shuffled epoch has an order of its own.
    assert len({str(batches) for batches in found}) == max(4 - curriculum, 0) + (curriculum > 0)


def test_a_resumed_training_reads_the_same():
    uninterrupted = read(epochs(Numbers(), reuse_dataloader=True), 1, 3)
    first = epochs(Numbers(), reuse_dataloader=True)
    for _, _ in zip(range(7), first.next_epoch_itr(shuffle=False), strict=False):
        pass
    resumed = epochs(Numbers(), reuse_dataloader=True)
    resumed.load_state_dict(first.state_dict())
    left, *others = read(resumed, 1, 3)
    assert [uninterrupted[0][-len(left) :], *uninterrupted[1:]] == [left, *others]


def test_batches_that_are_fixed_to_processes_remain_so():
    """A training that is resumed in an epoch forgets it for that epoch alone."""
    parts = [epochs(Prefetched(), num_shards=2, shard_id=shard, reuse_dataloader=True) for shard in range(2)]
    for shard, part in enumerate(parts):
        part.load_state_dict({"epoch": 1, "iterations_in_epoch": 3, "shuffle": False})
        list(part.next_epoch_itr())
        (found,) = read(part, 1, 1, fix_batches_to_gpus=True)
        assert sorted(found) == BATCHES[shard::2] != found


SINGLE = [[number] for number in range(11)]


def epoch(seen: int, *, skips: bool = True, buffer: int = 0) -> EpochBatchIterator:
    """An iterator over eleven batches of which some have been seen."""
    options = {"skip_remainder_batch": skips, "reuse_dataloader": True, "buffer_size": buffer}
    iterator = EpochBatchIterator(Numbers(), list, SINGLE, disable_shuffling=True, **options)
    iterator.load_state_dict({"epoch": 1, "iterations_in_epoch": seen, "shuffle": False})
    return iterator


@pytest.mark.parametrize("buffer", [0, 3])
@pytest.mark.parametrize("seen", [0, 1, 5, 10])
def test_all_batches_but_the_last_are_left(seen: int, buffer: int):
    iterator = epoch(seen, buffer=buffer)
    assert list(iterator.next_epoch_itr()) == SINGLE[seen:10]
    assert iterator.end_of_epoch()
    assert list(iterator.next_epoch_itr()) == SINGLE[:10]
    assert iterator.epoch == 2


@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("seen", [0, 1, 4, 9, 10])
@pytest.mark.parametrize("size", [1, 3, 4])
def test_updates_take_all_groups_that_are_left(size: int, seen: int, skips: bool):
    """The batches that have been seen may have been in groups of another size."""
    iterator = epoch(seen, skips=skips)
    groups = GroupedIterator(iterator.next_epoch_itr(), size, skip_remainder_batch=skips)
    left = SINGLE[seen : 10 if skips else 11]
    expected = [left[start : start + size] for start in range(0, len(left), size)]
    if skips and expected and len(expected[-1]) < size:
        expected.pop()
    assert list(groups) == expected
    # Otherwise, fairseq would begin the same epoch again.
    assert iterator.end_of_epoch()


def learned(data: Path, save: Path, updates: int, frequency: int) -> dict[str, torch.Tensor]:
    """What fairseq-train makes of so many updates: weights, which 16 bits round, and averages after every other one."""
    batches = ("--max-tokens", 60, "--required-batch-size-multiple", 1, "--skip-remainder-batch", "--dropout", 0.2)
    narrow = ("--bf16", "--lr", 0.001, "--store-ema", "--ema-decay", 0.5, "--ema-update-freq", 2)
    state = train(data, save, *batches, *narrow, "--max-update", updates, "--update-freq", frequency)
    averages = {f"average {name}": value for name, value in state["extra_state"]["ema"].items()}
    return {**state["model"], **averages}


@pytest.mark.parametrize(("interruptions", "frequency"), [((3, 4), 1), ((1,), 3)], ids=["alone", "groups"])
def test_a_resumed_training_learns_what_an_uninterrupted_one_does(
    tmp_path: Path, data: Path, interruptions: tuple[int, ...], frequency: int
):
    last = 9 // frequency
    expected = learned(data, tmp_path / "whole", last, frequency)
    for updates in (*interruptions, last):
        found = learned(data, tmp_path / "parts", updates, frequency)
    assert found.keys() == expected.keys()
    assert all(found[name].equal(value) for name, value in expected.items())
