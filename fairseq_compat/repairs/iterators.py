"""Repairs of ``fairseq.data.iterators``: which batches an epoch has, shuffled or not, wherever it is resumed."""

from fairseq.data.iterators import logger

from ..replacements import around


@around("fairseq.data.iterators", "EpochBatchIterator.state_dict")
def state_dict(get_state, self):
    """Let a checkpoint also know how many sentences there were."""
    return {**get_state(self), "sentences": len(self.dataset)}


@around("fairseq.data.iterators", "EpochBatchIterator._get_iterator_for_epoch")
def get_iterator_for_epoch(get, self, epoch, shuffle, fix_batches_to_gpus=False, offset=0):
    """Shuffle the epoch if it is to be, and with ``--skip-remainder-batch`` skip its last batch alone.

    fairseq 0.12.2 keeps the first epoch's decision for as long as the training runs: with ``--curriculum 1``, no epoch
    is shuffled, unless the training is interrupted. And it takes the number of batches that are left of an epoch for
    the number of all its batches: a training that is resumed in the first half of an epoch leaves batches out.
    """
    if self.reuse_dataloader and self.dataloader is not None:
        # The sampler reads them as it makes the batches of the epoch.
        self.batch_sampler.shuffle = shuffle
        self.batch_sampler.fix_batches_to_gpus = fix_batches_to_gpus
    skips, self.skip_remainder_batch = self.skip_remainder_batch, False
    try:
        batches = get(self, epoch, shuffle, fix_batches_to_gpus=fix_batches_to_gpus, offset=offset)
    finally:
        self.skip_remainder_batch = skips
    if skips and batches is not None:
        # The sampler has let go of what has been seen; the iterator counts it.
        total = offset + len(self.batch_sampler) - 1
        batches.take(total)
        logger.info(f"skip final residual batch, total_num_itrs = {total}")
    return batches


@around("fairseq.data.iterators", "GroupedIterator.__init__")
def group(init, self, iterable, chunk_size, skip_remainder_batch=False):
    """Count the groups that are left of an epoch, of which batches may have been seen in groups of another size."""
    seen = getattr(iterable, "n", 0)
    if seen % chunk_size == 0:
        init(self, iterable, chunk_size, skip_remainder_batch=skip_remainder_batch)
        return
    # Those that are left begin anew.
    init(self, iterable, chunk_size)
    groups = count_groups(len(iterable) - seen, chunk_size, skip_remainder_batch)
    self.total = self.n + groups
    if skip_remainder_batch:
        # The epoch ends with the last group, as it does in fairseq.
        iterable.take(seen + groups * chunk_size)


def count_groups(batches, size, skips):
    """Return how many groups of a size are in so many batches, with or without one that is not full."""
    return batches // size if skips else -(-batches // size)
