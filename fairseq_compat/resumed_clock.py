"""Keeps the clock of a resumed training running.

fairseq 0.12.2 stops it as it loads a checkpoint of the middle of an epoch: every report until that epoch's end has
``wall`` 0, and how long the training took cannot be told from its log.
"""

import functools


def repair(trainer_module):
    """Let the clock that ``fairseq.trainer.Trainer`` starts go on after ``load_checkpoint``."""
    metrics = trainer_module.metrics
    load_checkpoint = trainer_module.Trainer.load_checkpoint

    @functools.wraps(load_checkpoint)
    def load_and_go_on(self, *args, **kwargs):
        clock = metrics.get_meter("default", "wall")
        extra_state = load_checkpoint(self, *args, **kwargs)
        # Loading puts other meters in the place of those that there were.
        loaded = metrics.get_meter("default", "wall")
        if clock is not None and loaded is not None:
            loaded.start_time = clock.start_time
        return extra_state

    trainer_module.Trainer.load_checkpoint = load_and_go_on
