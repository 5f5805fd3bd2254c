"""Keeps what ``--patience`` counts in the checkpoints.

fairseq 0.12.2 keeps the best value and the validations since then in the process: each time a training is interrupted,
it forgets both, and on a cluster that often interrupts it, it never stops early.
"""

import functools

#: What fairseq keeps, as attributes of its function.
ATTRIBUTES = ("best", "num_runs")


def repair(train_module):
    """Let the trainer of ``fairseq_cli.train`` save the state of ``should_stop_early`` and load it again."""
    trainer = train_module.Trainer
    save_checkpoint, load_checkpoint = trainer.save_checkpoint, trainer.load_checkpoint

    @functools.wraps(save_checkpoint)
    def save_with_state(self, filename, extra_state):
        state = vars(train_module.should_stop_early)
        kept = {name: state[name] for name in ATTRIBUTES if name in state}
        return save_checkpoint(self, filename, {**extra_state, "early_stopping": kept})

    @functools.wraps(load_checkpoint)
    def load_with_state(
        self, filename, reset_optimizer=False, reset_lr_scheduler=False, optimizer_overrides=None, reset_meters=False
    ):
        extra_state = load_checkpoint(
            self, filename, reset_optimizer, reset_lr_scheduler, optimizer_overrides, reset_meters
        )
        # Another training of this process may have left its own.
        for name in ATTRIBUTES:
            vars(train_module.should_stop_early).pop(name, None)
        # fairseq forgets the best value of checkpoint_best.pt in the same cases.
        if extra_state is not None and not reset_optimizer and not reset_meters:
            vars(train_module.should_stop_early).update(extra_state.get("early_stopping", {}))
        return extra_state

    trainer.save_checkpoint, trainer.load_checkpoint = save_with_state, load_with_state
