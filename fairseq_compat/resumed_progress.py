"""Lets a resumed training know how far it is: its clock runs on, and its updates are counted on.

fairseq 0.12.2 stops the clock as it loads a checkpoint of the middle of an epoch: every report until that epoch's end
has ``wall`` 0, and how long the training took cannot be told from its log. And it restores the number of updates with
the optimizer's state alone: from a checkpoint without one, it begins at update 0, warm-up and all, and a training that
has ended trains once more.
"""

import functools
import os

from .missing_checkpoints import last_checkpoint


def repair(trainer_module):
    """Let the clock that ``fairseq.trainer.Trainer`` starts, and its updates, go on after ``load_checkpoint``."""
    metrics, logger = trainer_module.metrics, trainer_module.logger
    load_checkpoint = trainer_module.Trainer.load_checkpoint

    @functools.wraps(load_checkpoint)
    def load_and_go_on(
        self, filename, reset_optimizer=False, reset_lr_scheduler=False, optimizer_overrides=None, reset_meters=False
    ):
        clock = metrics.get_meter("default", "wall")
        extra_state = load_checkpoint(
            self, filename, reset_optimizer, reset_lr_scheduler, optimizer_overrides, reset_meters
        )
        # Loading puts other meters in the place of those that there were.
        loaded = metrics.get_meter("default", "wall")
        if clock is not None and loaded is not None:
            loaded.start_time = clock.start_time
        if extra_state is not None and not reset_optimizer:
            _restore_updates(self, filename, reset_lr_scheduler, logger)
        return extra_state

    trainer_module.Trainer.load_checkpoint = load_and_go_on


def _restore_updates(trainer, filename, reset_lr_scheduler, logger):
    """Restore what fairseq restores with an optimizer's state alone; raise ValueError if no training was saved."""
    saved = trainer._optim_history[-1]
    updates = saved["num_updates"]
    last = last_checkpoint(trainer.cfg.checkpoint, trainer.checkpoint_suffix)
    # A training has a state of its schedule, whether the optimizer's is in there or not.
    if not saved["lr_scheduler_state"] and os.path.realpath(filename) == os.path.realpath(last):
        raise ValueError(
            f"{filename} holds a model, such as an average, and no training that could go on: put the last checkpoint "
            "back in its place, or begin a new training, in another --save-dir, with --finetune-from-model"
        )
    if updates != trainer.get_num_updates():
        logger.warning("%s has no state of the optimizer: a new one goes on after update %d", filename, updates)
        if not reset_lr_scheduler:
            trainer.lr_scheduler.load_state_dict(saved["lr_scheduler_state"])
        trainer.set_num_updates(updates)
