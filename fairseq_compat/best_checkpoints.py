"""Saves the best model of every validation.

fairseq 0.12.2 saves ``checkpoint_best.pt`` only when it is about to save other checkpoints: with
``--validate-interval-updates`` but without ``--save-interval-updates``, or with ``--save-interval`` above
``--validate-interval``, the best model may be on no disk, and the best loss in the log may be the current one. With
``--best-checkpoint-metric bleu`` without ``--maximize-best-checkpoint-metric``, it keeps the worst model as the best.
And a metric that validation does not report ends in a KeyError after the first epoch, before that is saved.
"""

import functools

HIGHER_IS_BETTER = ("accuracy", "bleu")
LOWER_IS_BETTER = ("loss", "nll_loss", "ppl")
#: Metrics that validation reports if an option says so: where that is.
ASKED_FOR = {"bleu": ("task", "eval_bleu"), "accuracy": ("criterion", "report_accuracy")}


class UnknownMetricError(ValueError):
    """The metric of the best checkpoint is none that validation reports."""


def repair(train_module):
    """Let ``fairseq_cli.train.validate_and_save`` save whenever a validation is better than all before."""
    main, validate_and_save = train_module.main, train_module.validate_and_save
    checkpoint_utils = train_module.checkpoint_utils
    train_module.get_valid_stats = _with_the_metric(train_module.get_valid_stats)

    @functools.wraps(main)
    def main_with_its_own_best(cfg, *args, **kwargs):
        # fairseq keeps it as an attribute of its function, where another training of this process may have left one.
        vars(checkpoint_utils.save_checkpoint).pop("best", None)
        _check_metric(cfg)
        return main(cfg, *args, **kwargs)

    @functools.wraps(validate_and_save)
    def validate_and_save_the_best(cfg, trainer, task, epoch_itr, valid_subsets, end_of_epoch):
        try:
            valid_losses, should_stop = validate_and_save(cfg, trainer, task, epoch_itr, valid_subsets, end_of_epoch)
        except UnknownMetricError:
            checkpoint_utils.save_checkpoint(cfg.checkpoint, trainer, epoch_itr, None)
            raise
        # If fairseq has saved, the best value is at least as good as this one.
        if valid_losses[0] is not None and _is_better(valid_losses[0], cfg.checkpoint, checkpoint_utils):
            checkpoint_utils.save_checkpoint(cfg.checkpoint, trainer, epoch_itr, valid_losses[0])
        return valid_losses, should_stop

    train_module.main, train_module.validate_and_save = main_with_its_own_best, validate_and_save_the_best


def _with_the_metric(get_valid_stats):
    @functools.wraps(get_valid_stats)
    def get_stats_with_the_metric(cfg, trainer, stats, tracking_best):
        metric = cfg.checkpoint.best_checkpoint_metric
        # With post_validate, a task adds its own afterwards.
        if metric not in stats and not hasattr(trainer.task, "post_validate"):
            reported = ", ".join(name for name in stats if not name.startswith("_"))
            raise UnknownMetricError(
                f"--best-checkpoint-metric {metric}: validation reports no {metric}, but {reported}. What was trained "
                "is saved: the same command with one of these goes on from there"
            )
        return get_valid_stats(cfg, trainer, stats, tracking_best)

    return get_stats_with_the_metric


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


def _is_better(value, options, checkpoint_utils):
    best = getattr(checkpoint_utils.save_checkpoint, "best", None)
    if best is None or best != best:  # not a number
        return True
    return value > best if options.maximize_best_checkpoint_metric else value < best
