"""Shuffles the epochs that come after those of ``--curriculum``.

fairseq 0.12.2 keeps the first epoch's decision for as long as the training runs: with ``--curriculum 1``, no epoch is
shuffled, unless the training is interrupted.
"""

import functools


def repair(iterators):
    """Let ``fairseq.data.iterators.EpochBatchIterator`` tell the sampler that it keeps what this epoch asks for."""
    iterator_class = iterators.EpochBatchIterator
    get = iterator_class._get_iterator_for_epoch

    @functools.wraps(get)
    def get_as_asked(self, epoch, shuffle, fix_batches_to_gpus=False, offset=0):
        if self.reuse_dataloader and self.dataloader is not None:
            # It reads them as it makes the batches of the epoch.
            self.batch_sampler.shuffle = shuffle
            self.batch_sampler.fix_batches_to_gpus = fix_batches_to_gpus
        return get(self, epoch, shuffle, fix_batches_to_gpus=fix_batches_to_gpus, offset=offset)

    iterator_class._get_iterator_for_epoch = get_as_asked
