"""Repairs of ``fairseq.trainer``: what a training goes on with, and what it says of itself."""

import gc
import os

from fairseq.trainer import PathManager, logger, metrics

from ..replacements import around, in_place_of
from .checkpoint_utils import looking_at_each
from .comparisons import changed_dictionaries, changed_options
from .training_state import early_stopping, last_checkpoint

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
    """Load what there is to load, as the model that was trained, and go on with all that fairseq 0.12.2 forgets."""
    options = self.cfg.checkpoint
    _require_file(options, filename, self.checkpoint_suffix)
    _tell_of_vectors(filename, self.cfg, self.checkpoint_suffix)
    resets = any((reset_optimizer, reset_lr_scheduler, reset_meters, options.reset_dataloader))
    clock = metrics.get_meter("default", "wall")

    with looking_at_each(lambda path, state: _compare(path, state, self, resets)):
        extra_state = load(self, filename, reset_optimizer, reset_lr_scheduler, optimizer_overrides, reset_meters)

    _let_the_clock_run_on(clock)
    if extra_state is not None and not reset_optimizer:
        for name, kept, asked in _kept_settings(self.optimizer, optimizer_overrides or {}):
            message = "the optimizer of %s goes on with its %s of %s, not %s: --optimizer-overrides changes it"
            logger.warning(message, filename, name, kept, asked)
        _restore_updates(self, filename, reset_lr_scheduler)
    _tell_the_schedule(self, extra_state)
    # Another training of this process may have left its own. fairseq forgets the best value of checkpoint_best.pt in
    # the same cases.
    resumed = extra_state is not None and not reset_optimizer and not reset_meters
    _count_validations(extra_state.get("early_stopping", {}) if resumed else {})
    return extra_state


def _require_file(options, filename, suffix):
    """Raises FileNotFoundError, where fairseq would begin anew, unless it is the last checkpoint in --save-dir."""
    last = last_checkpoint(options, suffix)
    if os.path.abspath(filename) != os.path.abspath(last) and not PathManager.isfile(filename):
        # hydra starts each training in a folder of its own.
        raise FileNotFoundError(
            f"there is no checkpoint {filename} in {os.getcwd()}: correct its name, or leave the option out"
        )


def _tell_of_vectors(filename, cfg, suffix):
    """Warns of vectors that were asked for if another training's embeddings take their place."""
    if os.path.abspath(filename) == os.path.abspath(last_checkpoint(cfg.checkpoint, suffix)):
        return
    for option in ("encoder_embed_path", "decoder_embed_path"):
        if getattr(cfg.model, option, None):
            logger.warning("--%s has no effect: the embeddings are those of %s", option.replace("_", "-"), filename)


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
            "or another --save-dir for a new model. To train its parameters as the other model all the same, use "
            f"another --save-dir and --finetune-from-model {path}, or --reset-optimizer"
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


def _kept_settings(optimizer, overrides):
    """The settings of an optimizer that a checkpoint has brought, where others were asked for: name and both values.

    Its learning rate is the scheduler's.
    """
    try:
        wanted = optimizer.optimizer_config
    except NotImplementedError:  # several optimizers in one
        return
    loaded = optimizer.param_groups[0]
    for name, asked in wanted.items():
        kept = loaded.get(name, asked)
        kept, asked = (list(value) if isinstance(value, tuple) else value for value in (kept, asked))
        if name != "lr" and name not in overrides and kept != asked:
            yield name, kept, asked


def _restore_updates(trainer, filename, reset_lr_scheduler):
    """Restore what fairseq restores with an optimizer's state alone; raise ValueError if no training was saved.

    From a checkpoint without one, fairseq 0.12.2 begins at update 0, warm-up and all, and a training that has ended
    trains once more.
    """
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


def _tell_the_schedule(trainer, extra_state):
    """Tell ``reduce_lr_on_plateau`` the validation that it has missed.

    That at the end of an epoch is lost in fairseq 0.12.2, since the checkpoint is saved before the schedule hears of
    it: a training that is interrupted after each epoch never shrinks its learning rate.
    """
    # Unless it was to be reset, or the checkpoint has no state of the optimizer.
    schedule = trainer._lr_scheduler
    restored = vars(schedule).pop("has_state_of_a_checkpoint", False) if schedule else False
    if restored and extra_state is not None:
        position, value = extra_state["train_iterator"], extra_state.get("val_loss")
        if value is not None and _counts(trainer, position):
            trainer.lr_step(position["epoch"] - 1, value)


def _counts(trainer, position):
    """Whether the schedule hears of the validation before this position in a training that nothing interrupts.

    It does at the end of an epoch alone, and not where fairseq has validated only because the training stopped.
    """
    options, epoch = trainer.cfg.dataset, position["epoch"] - 1
    updates = options.validate_interval_updates
    due = epoch % options.validate_interval == 0 or (updates > 0 and trainer.get_num_updates() % updates == 0)
    return position.get("iterations_in_epoch", 0) == 0 and due


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


@in_place_of("fairseq.trainer", "_catalog_shared_params")
def catalog_shared_params(module):
    """List the names of each parameter that has several, as PyTorch knows them.

    fairseq 0.12.2 takes the missing biases of linear layers for one parameter that all of them share: each training
    begins with a line for every bias that is not there.
    """
    names: dict[object, list[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names.setdefault(parameter, []).append(name)
    return [same for same in names.values() if len(same) > 1]
