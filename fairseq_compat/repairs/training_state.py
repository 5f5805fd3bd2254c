"""Where a training stands: the checkpoint from which it goes on, and the limits that it has reached."""

import os
import sys


def last_checkpoint(options, suffix):
    """The file from which a training that is called again goes on, by its options of checkpoints."""
    return os.path.join(options.save_dir, f"checkpoint_last{suffix}.pt")


def early_stopping():
    """What ``--patience`` counts, which fairseq-train keeps as attributes of its function: the best value and so on."""
    train = sys.modules.get("fairseq_cli.train")
    return vars(train.should_stop_early) if train else {}


def reached_limit(cfg, trainer):
    """Which limit the training has reached; None if it has reached none."""
    updates, limit = trainer.get_num_updates(), cfg.optimization.max_update
    if limit and updates >= limit:
        return f"num_updates: {updates} >= max_update: {limit}"
    hours = cfg.optimization.stop_time_hours
    # A training run that has not begun has no checkpoint, however long its data took to load.
    if hours > 0 and updates and (spent := trainer.cumulative_training_time() / 3600) > hours:
        return f"cumulative_training_time: {spent:f} > stop_time_hours: {hours:f} hour(s)"
    # The number is that of the checkpoint.
    worse, patience = early_stopping().get("num_runs", 0), cfg.checkpoint.patience
    if 0 < patience <= worse:
        return f"validations without improvement: {worse} >= patience: {patience}"
    return None
