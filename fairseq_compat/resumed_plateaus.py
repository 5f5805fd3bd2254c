"""Lets ``--lr-scheduler reduce_lr_on_plateau`` remember all validations of an interrupted training.

fairseq 0.12.2 saves the best value, not how many validations were worse since: each interruption begins the count of
``--lr-patience`` anew. The validation at the end of an epoch is lost as well, since the checkpoint is saved before the
schedule hears of it: a training that is interrupted after each epoch never shrinks its learning rate.
"""

import functools

#: What fairseq leaves out, as attributes of PyTorch's schedule.
COUNTS = ("num_bad_epochs", "cooldown_counter")


def repair(module):
    """Let the schedule save its counts, and ``fairseq.trainer.Trainer`` tell it the validation that it has missed."""
    if module.__name__ == "fairseq.trainer":
        _repair_trainer(module.Trainer)
    else:
        _repair_schedule(module.ReduceLROnPlateauLRSchedule)


def _repair_schedule(schedule):
    state_dict, load_state_dict = schedule.state_dict, schedule.load_state_dict

    @functools.wraps(state_dict)
    def state_with_counts(self):
        counts = {name: getattr(self.lr_scheduler, name) for name in COUNTS}
        return {**state_dict(self), **counts, "lr": self.optimizer.get_lr()}

    @functools.wraps(load_state_dict)
    def load_with_counts(self, state):
        load_state_dict(self, state)
        for name in COUNTS:
            setattr(self.lr_scheduler, name, state.get(name, 0))
        # An optimizer's state brings it as well, but not every checkpoint has one.
        self.optimizer.set_lr(state.get("lr", self.optimizer.get_lr()))
        self.has_state_of_a_checkpoint = True

    schedule.state_dict, schedule.load_state_dict = state_with_counts, load_with_counts


def _repair_trainer(trainer):
    load_checkpoint = trainer.load_checkpoint

    @functools.wraps(load_checkpoint)
    def load_and_step(self, *args, **kwargs):
        extra_state = load_checkpoint(self, *args, **kwargs)
        # Unless it was to be reset, or the checkpoint has no state of the optimizer.
        restored = vars(self._lr_scheduler).pop("has_state_of_a_checkpoint", False) if self._lr_scheduler else False
        if restored and extra_state is not None:
            position, value = extra_state["train_iterator"], extra_state.get("val_loss")
            if value is not None and _counts(self, position):
                self.lr_step(position["epoch"] - 1, value)
        return extra_state

    trainer.load_checkpoint = load_and_step


def _counts(trainer, position):
    """Whether the schedule hears of the validation before this position in a training that nothing interrupts.

    It does at the end of an epoch alone, and not where fairseq has validated only because the training stopped.
    """
    options, epoch = trainer.cfg.dataset, position["epoch"] - 1
    updates = options.validate_interval_updates
    due = epoch % options.validate_interval == 0 or (updates > 0 and trainer.get_num_updates() % updates == 0)
    return position.get("iterations_in_epoch", 0) == 0 and due
