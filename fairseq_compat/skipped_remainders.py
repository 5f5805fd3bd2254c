"""Lets a training with ``--skip-remainder-batch`` go on where it was interrupted.

fairseq 0.12.2 takes the number of batches that are left of an epoch for the number of all its batches: a training that
is resumed in the first half of an epoch leaves batches out, and one that is resumed later ends in
"UnboundLocalError: valid_losses". An epoch of which nothing is left ends so, too, and a changed ``--update-freq``
counts batches wrongly whether the last one is skipped or not.
"""

import functools


def repair(module):
    """Repair the counts of ``fairseq.data.iterators`` and the epoch of ``fairseq_cli.train``."""
    if module.__name__ == "fairseq.data.iterators":
        _repair_batches(module)
        _repair_groups(module.GroupedIterator)
    else:
        _repair_epoch(module)


def _repair_batches(iterators):
    iterator_class = iterators.EpochBatchIterator
    get = iterator_class._get_iterator_for_epoch

    @functools.wraps(get)
    def get_without_the_last(self, epoch, shuffle, fix_batches_to_gpus=False, offset=0):
        skips, self.skip_remainder_batch = self.skip_remainder_batch, False
        try:
            batches = get(self, epoch, shuffle, fix_batches_to_gpus=fix_batches_to_gpus, offset=offset)
        finally:
            self.skip_remainder_batch = skips
        if skips and batches is not None:
            # The sampler has let go of what has been seen; the iterator counts it.
            total = offset + len(self.batch_sampler) - 1
            batches.take(total)
            iterators.logger.info(f"skip final residual batch, total_num_itrs = {total}")
        return batches

    iterator_class._get_iterator_for_epoch = get_without_the_last


def _repair_groups(grouped):
    init = grouped.__init__

    @functools.wraps(init)
    def init_with_what_is_left(self, iterable, chunk_size, skip_remainder_batch=False):
        seen = getattr(iterable, "n", 0)
        if seen % chunk_size == 0:
            init(self, iterable, chunk_size, skip_remainder_batch=skip_remainder_batch)
            return
        # The batches that have been seen were in groups of another size: those that are left begin anew.
        init(self, iterable, chunk_size)
        groups = _groups(len(iterable) - seen, chunk_size, skip_remainder_batch)
        self.total = self.n + groups
        if skip_remainder_batch:
            # The epoch ends with the last group, as it does in fairseq.
            iterable.take(seen + groups * chunk_size)

    grouped.__init__ = init_with_what_is_left


def _groups(batches, size, skips):
    """How many groups of a size are in so many batches, with or without one that is not full."""
    return batches // size if skips else -(-batches // size)


def _repair_epoch(train_module):
    train = train_module.train

    @functools.wraps(train)
    def train_what_is_left(cfg, trainer, task, epoch_itr):
        if not isinstance(epoch_itr, train_module.iterators.EpochBatchIterator):
            return train(cfg, trainer, task, epoch_itr)
        skips, frequencies = cfg.optimization.skip_remainder_batch, cfg.optimization.update_freq
        frequency = frequencies[min(epoch_itr.next_epoch_idx, len(frequencies)) - 1]
        resumed = epoch_itr._next_epoch_itr
        batches = len(epoch_itr) - skips if resumed is None else len(resumed) - resumed.n
        if _groups(batches, frequency, skips) > 0:
            return train(cfg, trainer, task, epoch_itr)
        if resumed is None:
            raise ValueError(
                f"--skip-remainder-batch leaves nothing to train: an epoch has {batches + 1} batches with the last "
                f"one, which is skipped, and an update takes {frequency} (--update-freq)"
            )
        train_module.logger.info("nothing is left to train in epoch %d", epoch_itr.epoch)
        epoch_itr.next_epoch_itr().take(resumed.n)
        return [None], False

    train_module.train = train_what_is_left
