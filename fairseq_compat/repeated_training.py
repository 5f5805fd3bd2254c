"""Lets a training that is called again, as clusters do, keep what it has trained.

fairseq 0.12.2 checks ``--max-update``, ``--stop-time-hours``, and ``--patience`` after an update, not before: called
again with a final checkpoint, it makes one more update, or many more, and overwrites the checkpoint. After
``--max-epoch``, it ends at once with status 0, as if it had trained, whatever seed, rate, or data it is called with.
With ``--restore-file``, it begins from that file each time, and with ``--no-last-checkpoints`` from nothing: what it
had trained is overwritten, ``checkpoint_best.pt`` by a worse model.
"""

import contextlib
import functools
import os

from .missing_checkpoints import last_checkpoint
from .resumed_batches import option_differences

#: Options that make another model, of those that do not decide which pairs are in which batch. fairseq itself refuses
#: another criterion or optimizer, and `changed_models` another function.
OPTIONS = (
    "optimization.lr",
    "optimization.update_freq",
    "optimization.clip_norm",
    "optimization.sentence_avg",
    "dataset.curriculum",
    "model.dropout",
    "model.encoder_dropout_in",
    "model.encoder_dropout_out",
    "model.decoder_dropout_in",
    "model.decoder_dropout_out",
    "model.recurrent_dropout",
    "model.word_dropout",
    "model.initialization",
    "model.encoder_spectral_radius",
    "model.decoder_spectral_radius",
    "model.encoder_freeze_embed",
    "model.decoder_freeze_embed",
    "model.autocast",
    "criterion.label_smoothing",
    "optimizer.weight_decay",
    "optimizer.adam_betas",
    "optimizer.adam_eps",
    "lr_scheduler._name",
    "lr_scheduler.warmup_updates",
    "lr_scheduler.lr_shrink",
)
#: Options of checkpoints that say how a training begins, and what they are where it goes on.
GOING_ON = {
    "restore_file": "checkpoint_last.pt",
    "reset_optimizer": False,
    "reset_lr_scheduler": False,
    "reset_meters": False,
    "reset_dataloader": False,
}


def repair(train_module):
    """Let ``fairseq_cli.train`` go on from its last checkpoint, and stop if nothing is left; it says so."""
    train, load = train_module.train, train_module.checkpoint_utils.load_checkpoint

    @functools.wraps(train)
    def train_what_is_left(cfg, trainer, task, epoch_itr):
        if reason := _what_is_over(train_module, cfg, trainer):
            train_module.logger.info("nothing is left to train: %s", reason)
            return [None], True
        return train(cfg, trainer, task, epoch_itr)

    @functools.wraps(load)
    def load_and_compare(cfg, trainer, **kwargs):
        _refuse_to_overwrite(cfg, trainer)
        with _restoring_once(train_module, cfg, trainer):
            extra_state, epoch_itr = load(cfg, trainer, **kwargs)
            if trainer.get_num_updates():
                epoch, limit = epoch_itr.next_epoch_idx - 1, trainer.cfg.optimization.max_epoch
                epochs = f"epoch: {epoch} >= max_epoch: {limit}" if limit and epoch >= limit else ""
                if epochs or _what_is_over(train_module, trainer.cfg, trainer):
                    _refuse_others(train_module.checkpoint_utils, cfg, trainer)
                if epochs:
                    train_module.logger.info("nothing is left to train: %s", epochs)
        return extra_state, epoch_itr

    train_module.train = train_what_is_left
    train_module.checkpoint_utils.load_checkpoint = load_and_compare


def _refuse_to_overwrite(options, trainer):
    """Raises ValueError if a training would begin anew where one without a last checkpoint has left its best model."""
    last = last_checkpoint(options, trainer.checkpoint_suffix)
    best = os.path.join(options.save_dir, f"checkpoint_best{trainer.checkpoint_suffix}.pt")
    # A checkpoint that is restored without these resets tells fairseq how good the best model was.
    goes_on = options.restore_file != GOING_ON["restore_file"] and not (options.reset_optimizer or options.reset_meters)
    keeps_none = options.no_last_checkpoints and not options.no_save and not os.path.exists(last)
    if keeps_none and not goes_on and os.path.exists(best):
        raise ValueError(
            f"{best} is of a training that cannot go on, since --no-last-checkpoints keeps no last checkpoint, and a "
            f"new one would overwrite it: choose another --save-dir, or go on with --restore-file {best}"
        )


@contextlib.contextmanager
def _restoring_once(train_module, options, trainer):
    """Within, a training that has begun with --restore-file goes on from its last checkpoint, and resets nothing."""
    given = {name: getattr(options, name) for name in GOING_ON}
    last = last_checkpoint(options, trainer.checkpoint_suffix)
    if _has_begun_with(given["restore_file"], last, train_module.checkpoint_utils):
        train_module.logger.info(
            "this training has begun with --restore-file %s and goes on from %s; another --save-dir begins it anew",
            *(given["restore_file"], last),
        )
        options.update(GOING_ON)
    try:
        yield
    finally:
        # Checkpoints say what a training was called with: the next call looks at them.
        options.update(given)


def _has_begun_with(file, last, checkpoint_utils):
    """Whether a training's last checkpoint says that it was called with this --restore-file."""
    if file == GOING_ON["restore_file"] or not os.path.isfile(last):
        return False
    config = checkpoint_utils.load_checkpoint_to_cpu(last).get("cfg")
    return config is not None and config.checkpoint.restore_file == file


def _what_is_over(train_module, cfg, trainer):
    """Which limit the training has reached; None if it has reached none."""
    updates, limit = trainer.get_num_updates(), cfg.optimization.max_update
    if limit and updates >= limit:
        return f"num_updates: {updates} >= max_update: {limit}"
    hours = cfg.optimization.stop_time_hours
    # A training run that has not begun has no checkpoint, however long its data took to load.
    if hours > 0 and updates and (spent := trainer.cumulative_training_time() / 3600) > hours:
        return f"cumulative_training_time: {spent:f} > stop_time_hours: {hours:f} hour(s)"
    # early_stopping restores the number from the checkpoint.
    worse, patience = getattr(train_module.should_stop_early, "num_runs", 0), cfg.checkpoint.patience
    if 0 < patience <= worse:
        return f"validations without improvement: {worse} >= patience: {patience}"
    return None


def _refuse_others(checkpoint_utils, cfg, trainer):
    """Raises ValueError if a finished training is taken for one with other options or data."""
    path = cfg.restore_file
    if path == GOING_ON["restore_file"]:
        path = last_checkpoint(cfg, trainer.checkpoint_suffix)
    state = checkpoint_utils.load_checkpoint_to_cpu(path)
    iterator = (state.get("extra_state") or {}).get("train_iterator", {})
    # Each epoch may have a shard of the data, with as many sentences as it has.
    sentences = None if trainer.task.has_sharded_data("train") else iterator.get("sentences")
    if changes := option_differences(state.get("cfg"), sentences, trainer, OPTIONS):
        raise ValueError(
            f"{path} is of a training that has ended, and this is another one: {'; '.join(changes)}. Choose another "
            "--save-dir for it"
        )
