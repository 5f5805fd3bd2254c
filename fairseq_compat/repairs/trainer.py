"""Repairs of ``fairseq.trainer``: what a training goes on with, and what it says of itself."""

import gc
import os
import sys

from fairseq.trainer import PathManager, logger, metrics

from ..replacements import around
from .checkpoint_utils import looking_at_each
from .comparisons import changed_dictionaries, changed_options

#: What fairseq keeps of the validations for ``--patience``.
COUNTED = ("best", "num_runs")


@around("fairseq.trainer", "Trainer.load_checkpoint")
def load_checkpoint(
    load,
    self,
    filename,
    reset_optimizer=False,
    reset_lr_scheduler=False,
    optimizer_overrides=None,
    reset_meters=False,
):
    """Load what there is to load, as the model that was trained, with the clock and the counts of its training."""
    options = self.cfg.checkpoint
    _require_file(options, filename, self.checkpoint_suffix)
    resets = any((reset_optimizer, reset_lr_scheduler, reset_meters, options.reset_dataloader))
    clock = metrics.get_meter("default", "wall")

    with looking_at_each(lambda path, state: _compare(path, state, self, resets)):
        extra_state = load(self, filename, reset_optimizer, reset_lr_scheduler, optimizer_overrides, reset_meters)

    _let_the_clock_run_on(clock)
    # Another training of this process may have left its own. fairseq forgets the best value of checkpoint_best.pt in
    # the same cases.
    resumed = extra_state is not None and not reset_optimizer and not reset_meters
    _count_validations(extra_state.get("early_stopping", {}) if resumed else {})
    return extra_state


def _require_file(options, filename, suffix):
    """Raises FileNotFoundError, where fairseq would begin anew, unless it is the last checkpoint in --save-dir."""
    last = os.path.join(options.save_dir, f"checkpoint_last{suffix}.pt")
    if os.path.abspath(filename) != os.path.abspath(last) and not PathManager.isfile(filename):
        # hydra starts each training in a folder of its own.
        raise FileNotFoundError(
            f"there is no checkpoint {filename} in {os.getcwd()}: correct its name, or leave the option out"
        )


def _compare(path, state, trainer, resets):
    """Raises ValueError if a checkpoint is of another model; says so where a training begins anew with it.

    fairseq 0.12.2 compares the names and shapes of parameters, and nothing else: with another activation, another
    number of heads, or embeddings that are now shared, training continues as another model without a word.
    """
    # Earlier versions of fairseq kept what was given on the command line.
    options = state.get("args")
    if options is None and state.get("cfg") is not None:
        options = state["cfg"]["model"]
    changes = changed_options(options, trainer.cfg.model)
    changes += changed_dictionaries(state.get("task_state") or {}, trainer.task)
    if not changes:
        return
    if not resets:
        raise ValueError(
            f"{path} holds another model than these options make: {', '.join(changes)}. Use those it was trained with, "
            "or another --save-dir for a new model. If the other one has the same parameters, it can go on from them: "
            f"use another --save-dir and --finetune-from-model {path}, or --reset-optimizer"
        )
    logger.warning("%s is continued as another model: %s", path, ", ".join(changes))


def _let_the_clock_run_on(clock):
    """Have a loaded clock begin with the one before.

    fairseq 0.12.2 stops it as it loads a checkpoint of the middle of an epoch: every report until that epoch's end has
    ``wall`` 0, and how long the training took cannot be told from its log.
    """
    loaded = metrics.get_meter("default", "wall")
    if clock is not None and loaded is not None:
        loaded.start_time = clock.start_time


def early_stopping():
    """What ``--patience`` counts, which fairseq-train keeps as attributes of its function: the best value and so on."""
    train = sys.modules.get("fairseq_cli.train")
    return vars(train.should_stop_early) if train else {}


def _count_validations(counted):
    """Have ``--patience`` go on from these counts."""
    state = early_stopping()
    for name in COUNTED:
        state.pop(name, None)
    state.update(counted)


@around("fairseq.trainer", "Trainer.save_checkpoint")
def save_checkpoint(save, self, filename, extra_state):
    """Keep what ``--patience`` counts in the checkpoints.

    fairseq 0.12.2 keeps it in the process: on a cluster that often interrupts a training, that never stops early.
    """
    state = early_stopping()
    kept = {name: state[name] for name in COUNTED if name in state}
    return save(self, filename, {**extra_state, "early_stopping": kept})


@around("fairseq.trainer", "Trainer.get_train_iterator")
def let_go_of_past_epochs(get, self, *args, **kwargs):
    """Let go of the epochs that are past before another begins.

    Each epoch of fairseq 0.12.2 has a data loader with processes of its own, and, if the data is sharded, a dataset and
    batches of its own. They refer to themselves, so that they stay, asleep, until Python happens to look for such
    circles, which is rare: with short epochs, four were there at once.
    """
    gc.collect()
    return get(self, *args, **kwargs)
