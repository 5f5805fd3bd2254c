"""Repairs of ``fairseq.data.iterators``: which epochs are shuffled, and what a checkpoint knows of the data."""

from ..replacements import around


@around("fairseq.data.iterators", "EpochBatchIterator.state_dict")
def state_dict(get_state, self):
    """Let a checkpoint also know how many sentences there were."""
    return {**get_state(self), "sentences": len(self.dataset)}


@around("fairseq.data.iterators", "EpochBatchIterator._get_iterator_for_epoch")
def get_iterator_for_epoch(get, self, epoch, shuffle, fix_batches_to_gpus=False, offset=0):
    """Shuffle the epoch if it is to be.

    fairseq 0.12.2 keeps the first epoch's decision for as long as the training runs: with ``--curriculum 1``, no epoch
    is shuffled, unless the training is interrupted.
    """
    if self.reuse_dataloader and self.dataloader is not None:
        # The sampler reads them as it makes the batches of the epoch.
        self.batch_sampler.shuffle = shuffle
        self.batch_sampler.fix_batches_to_gpus = fix_batches_to_gpus
    return get(self, epoch, shuffle, fix_batches_to_gpus=fix_batches_to_gpus, offset=offset)
