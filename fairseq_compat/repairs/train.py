"""Repairs of ``fairseq_cli.train``: what fairseq-train refuses, when it stops, and which models it keeps."""

import contextlib
import os
import signal
import sys
import threading

from fairseq_cli.train import checkpoint_utils, iterators, logger

from ..replacements import around
from .checked_options import problem
from .iterators import count_groups
from .sentence_lengths import require_lengths
from .training_state import reached_limit

RETRY_SECONDS = 0.1
#: As a shell reports the signal.
STATUS = 128 + signal.SIGTERM
HIGHER_IS_BETTER = ("accuracy", "bleu")
LOWER_IS_BETTER = ("loss", "nll_loss", "ppl")
#: Metrics that validation reports if an option says so: where that is.
ASKED_FOR = {"bleu": ("task", "eval_bleu"), "accuracy": ("criterion", "report_accuracy")}


class UnknownMetricError(ValueError):
    """The metric of the best checkpoint is none that validation reports."""


@around("fairseq_cli.train", "main")
def main(train_all, cfg, *args, **kwargs):
    """Refuse options that mean nothing, and leave with a shell's status when asked to end."""
    with ending_on_request():
        _check_options(cfg)
        _check_metric(cfg)
        # fairseq keeps it as an attribute of its function, where another training of this process may have left one.
        vars(checkpoint_utils.save_checkpoint).pop("best", None)
        return train_all(cfg, *args, **kwargs)


@contextlib.contextmanager
def ending_on_request():
    """Within, SIGTERM ends the process with status 143.

    Python's own response to the signal is to vanish: the processes that load data then print tracebacks about the
    broken connection to the log, and nothing says what ended the training.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    report = sys.unraisablehook
    asked = False

    def stop(*_):
        nonlocal asked
        asked = True
        logger.info("SIGTERM: training stops here; rerun the same command to resume from checkpoint_last.pt")
        sys.exit(STATUS)

    def stop_again(unraisable):
        # Python ignores what is raised while an object is deleted, and training would go on.
        if issubclass(unraisable.exc_type, SystemExit):
            threading.Timer(RETRY_SECONDS, os.kill, (os.getpid(), signal.SIGTERM)).start()
        else:
            report(unraisable)

    before = signal.signal(signal.SIGTERM, stop)
    sys.unraisablehook = stop_again
    try:
        yield
    except Exception:
        # PyTorch cannot close a file whose writing is interrupted, and its error takes the place of the exit.
        if asked:
            sys.exit(STATUS)
        raise
    finally:
        sys.unraisablehook = report
        signal.signal(signal.SIGTERM, before)


def _check_options(cfg):
    """Raises ValueError for a value that means nothing: fairseq-hydra-train parses no command line."""
    from omegaconf import OmegaConf

    groups = cfg.values() if OmegaConf.is_dict(cfg) else ()
    for group in filter(OmegaConf.is_dict, groups):
        if message := problem(OmegaConf.to_container(group)):
            raise ValueError(message)


def _check_metric(cfg):
    """Raises ValueError if the metric of the best checkpoint will not be there, or the best would be the worst one."""
    options = cfg.checkpoint
    metric, flag = options.best_checkpoint_metric, "--maximize-best-checkpoint-metric"
    if metric in ASKED_FOR:
        group, option = ASKED_FOR[metric]
        # A criterion or task without that option may report it always.
        if not getattr(cfg[group], option, True):
            raise ValueError(f"--best-checkpoint-metric {metric} needs --{option.replace('_', '-')}")
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
    if reason := reached_limit(cfg, trainer):
        logger.info("nothing is left to train: %s", reason)
        return [None], True
    if not _has_updates(cfg.optimization, epoch_itr):
        return [None], False
    _check_validation_sets(cfg.dataset, trainer, task)
    return train(cfg, trainer, task, epoch_itr)


def _has_updates(options, epoch_itr):
    """Whether an update is left of the epoch, which is over otherwise; ValueError if no epoch will have one.

    fairseq 0.12.2 ends in "UnboundLocalError: valid_losses".
    """
    if not isinstance(epoch_itr, iterators.EpochBatchIterator):
        return True
    skips, frequencies = options.skip_remainder_batch, options.update_freq
    frequency = frequencies[min(epoch_itr.next_epoch_idx, len(frequencies)) - 1]
    resumed = epoch_itr._next_epoch_itr
    batches = len(epoch_itr) - skips if resumed is None else len(resumed) - resumed.n
    if count_groups(batches, frequency, skips) > 0:
        return True
    if resumed is None:
        raise ValueError(
            f"--skip-remainder-batch leaves nothing to train: an epoch has {batches + 1} batches with the last "
            f"one, which is skipped, and an update takes {frequency} (--update-freq)"
        )
    logger.info("nothing is left to train in epoch %d", epoch_itr.epoch)
    epoch_itr.next_epoch_itr().take(resumed.n)
    return False


def _check_validation_sets(options, trainer, task):
    """Raises ValueError, before an epoch of work is lost, if a validation set is empty or has a line too long."""
    from fairseq.utils import resolve_max_positions

    if options.disable_validation:
        return
    for split in options.valid_subset.split(","):
        if split not in task.datasets:
            continue
        if len(task.datasets[split]) == 0:
            raise ValueError(f"{split} has no sentences: give it some, or --disable-validation")
        if not options.skip_invalid_size_inputs_valid_test:
            positions = resolve_max_positions(task.max_positions(), trainer.get_model().max_positions())
            require_lengths(task, task.datasets[split], options.max_tokens_valid, positions)


@around("fairseq_cli.train", "get_valid_stats")
def get_valid_stats(get, cfg, trainer, stats, tracking_best):
    """Name a metric of the best checkpoint that validation does not report, and those that it does."""
    metric = cfg.checkpoint.best_checkpoint_metric
    # With post_validate, a task adds its own afterwards.
    if metric not in stats and not hasattr(trainer.task, "post_validate"):
        reported = ", ".join(name for name in stats if not name.startswith("_"))
        raise UnknownMetricError(
            f"--best-checkpoint-metric {metric}: validation reports no {metric}, but {reported}. What was trained "
            "is saved: the same command with one of these goes on from there"
        )
    return get(cfg, trainer, stats, tracking_best)


@around("fairseq_cli.train", "validate_and_save")
def validate_and_save_the_best(validate_and_save, cfg, trainer, task, epoch_itr, valid_subsets, end_of_epoch):
    """Save the model whenever a validation is better than all before, and the epoch where its metric is missing.

    fairseq 0.12.2 saves ``checkpoint_best.pt`` only when it is about to save other checkpoints: with
    ``--validate-interval-updates`` but without ``--save-interval-updates``, or with ``--save-interval`` above
    ``--validate-interval``, the best model may be on no disk, and the best loss in the log may be the current one.
    """
    try:
        valid_losses, should_stop = validate_and_save(cfg, trainer, task, epoch_itr, valid_subsets, end_of_epoch)
    except UnknownMetricError:
        checkpoint_utils.save_checkpoint(cfg.checkpoint, trainer, epoch_itr, None)
        raise
    # If fairseq has saved, the best value is at least as good as this one.
    if valid_losses[0] is not None and _is_better(valid_losses[0], cfg.checkpoint):
        checkpoint_utils.save_checkpoint(cfg.checkpoint, trainer, epoch_itr, valid_losses[0])
    return valid_losses, should_stop


def _is_better(value, options):
    best = getattr(checkpoint_utils.save_checkpoint, "best", None)
    if best is None or best != best:  # not a number
        return True
    return value > best if options.maximize_best_checkpoint_metric else value < best
