"""Repairs of ``fairseq_cli.train``: what fairseq-train refuses, when it stops, and which models it keeps."""

import contextlib
import multiprocessing
import os
import signal
import threading

from fairseq_cli.train import checkpoint_utils, logger

from ..replacements import around
from .sentence_lengths import require_lengths
from .trainer import early_stopping

#: As a shell reports the signal.
STATUS = 128 + signal.SIGTERM
HIGHER_IS_BETTER = ("accuracy", "bleu")
LOWER_IS_BETTER = ("loss", "nll_loss", "ppl")


@around("fairseq_cli.train", "main")
def main(train_all, cfg, *args, **kwargs):
    """Refuse to keep the worst model as the best, and leave with a shell's status when asked to end."""
    with ending_on_request():
        _check_metric(cfg.checkpoint)
        # fairseq keeps it as an attribute of its function, where another training of this process may have left one.
        vars(checkpoint_utils.save_checkpoint).pop("best", None)
        return train_all(cfg, *args, **kwargs)


@contextlib.contextmanager
def ending_on_request():
    """Within, SIGTERM ends the process at once with status 143, and with it the processes that load data.

    Without, those print tracebacks about the broken connection to the log, and nothing says what ended the training.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        logger.info("SIGTERM: training stops here; the same command resumes from the last checkpoint, if any")
        # PyTorch would raise an error about loaders that are gone.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for loader in multiprocessing.active_children():
            loader.kill()
        # An exception would be lost while an object is deleted, or change where PyTorch writes a checkpoint.
        os._exit(STATUS)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _check_metric(options):
    """Raises ValueError if the best checkpoint would be the worst one."""
    metric, flag = options.best_checkpoint_metric, "--maximize-best-checkpoint-metric"
    if metric in HIGHER_IS_BETTER and not options.maximize_best_checkpoint_metric:
        raise ValueError(f"--best-checkpoint-metric {metric} needs {flag}: without, the worst model is kept")
    if metric in LOWER_IS_BETTER and options.maximize_best_checkpoint_metric:
        raise ValueError(f"--best-checkpoint-metric {metric} is best where it is lowest: leave {flag} out")


@around("fairseq_cli.train", "train")
def train_what_is_left(train, cfg, trainer, task, epoch_itr):
    """Begin no epoch in which nothing is left to train, nor one that a validation set would end.

    fairseq 0.12.2 checks ``--max-update``, ``--stop-time-hours``, and ``--patience`` after an update, not before:
    called again with a final checkpoint, it makes one more update, or many more, and overwrites the checkpoint.
    """
    if reason := _reached_limit(cfg, trainer):
        logger.info("nothing is left to train: %s", reason)
        return [None], True
    _check_validation_sets(cfg.dataset, trainer, task)
    return train(cfg, trainer, task, epoch_itr)


def _reached_limit(cfg, trainer):
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


def _check_validation_sets(options, trainer, task):
    """Raises ValueError, before an epoch of work is lost, if a validation set has a line too long."""
    from fairseq.utils import resolve_max_positions

    if options.disable_validation or options.skip_invalid_size_inputs_valid_test:
        return
    positions = resolve_max_positions(task.max_positions(), trainer.get_model().max_positions())
    for split in options.valid_subset.split(","):
        if split in task.datasets:
            require_lengths(task, task.datasets[split], options.max_tokens_valid, positions)


@around("fairseq_cli.train", "validate_and_save")
def validate_and_save_the_best(validate_and_save, cfg, trainer, task, epoch_itr, valid_subsets, end_of_epoch):
    """Save the model whenever a validation is better than all before.

    fairseq 0.12.2 saves ``checkpoint_best.pt`` only when it is about to save other checkpoints: with
    ``--validate-interval-updates`` but without ``--save-interval-updates``, or with ``--save-interval`` above
    ``--validate-interval``, the best model may be on no disk, and the best loss in the log may be the current one.
    """
    valid_losses, should_stop = validate_and_save(cfg, trainer, task, epoch_itr, valid_subsets, end_of_epoch)
    # If fairseq has saved, the best value is at least as good as this one.
    if valid_losses[0] is not None and _is_better(valid_losses[0], cfg.checkpoint):
        checkpoint_utils.save_checkpoint(cfg.checkpoint, trainer, epoch_itr, valid_losses[0])
    return valid_losses, should_stop


def _is_better(value, options):
    best = getattr(checkpoint_utils.save_checkpoint, "best", None)
    if best is None or best != best:  # not a number
        return True
    return value > best if options.maximize_best_checkpoint_metric else value < best
