"""Lets go of the epochs that are past before another begins.

Each epoch of fairseq 0.12.2 has a data loader with processes of its own, and, if the data is sharded, a dataset and
batches of its own. They refer to themselves, so that they stay, asleep, until Python happens to look for such circles,
which is rare: with short epochs, four were there at once.
"""

import functools
import gc


def repair(trainer):
    """Let ``Trainer.get_train_iterator`` look for what nothing refers to any more."""
    get = trainer.Trainer.get_train_iterator

    @functools.wraps(get)
    def collect_and_get(self, *args, **kwargs):
        gc.collect()
        return get(self, *args, **kwargs)

    trainer.Trainer.get_train_iterator = collect_and_get
