"""Lets a training run that has made all its updates, used up its time, or lost patience end when it is called again.

fairseq 0.12.2 checks ``--max-update``, ``--stop-time-hours``, and ``--patience`` after an update, not before: called
again with a final checkpoint, it makes one more update, or many more, and overwrites the checkpoint.
"""

import functools


def repair(train_module):
    """Let ``fairseq_cli.train.train`` stop before the first update if none is left."""
    train = train_module.train

    @functools.wraps(train)
    def train_what_is_left(cfg, trainer, task, epoch_itr):
        updates, limit = trainer.get_num_updates(), cfg.optimization.max_update
        if limit and updates >= limit:
            train_module.logger.info("nothing is left to train: num_updates: %d >= max_update: %d", updates, limit)
            return [None], True
        hours = cfg.optimization.stop_time_hours
        # A training run that has not begun has no checkpoint, however long its data took to load.
        if hours > 0 and updates and (spent := trainer.cumulative_training_time() / 3600) > hours:
            message = "nothing is left to train: cumulative_training_time: %f > stop_time_hours: %f hour(s)"
            train_module.logger.info(message, spent, hours)
            return [None], True
        # early_stopping restores the number from the checkpoint.
        worse, patience = getattr(train_module.should_stop_early, "num_runs", 0), cfg.checkpoint.patience
        if 0 < patience <= worse:
            message = "nothing is left to train: validations without improvement: %d >= patience: %d"
            train_module.logger.info(message, worse, patience)
            return [None], True
        return train(cfg, trainer, task, epoch_itr)

    train_module.train = train_what_is_left
