"""Which batches an epoch has, shuffled or not, wherever a training is resumed."""

from __future__ import annotations

import pytest
import torch
from fairseq.data.iterators import EpochBatchIterator

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
