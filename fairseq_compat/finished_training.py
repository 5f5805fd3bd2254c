"""Lets a training run that has made all its updates, used up its time, or lost patience end when it is called again.

fairseq 0.12.2 checks ``--max-update``, ``--stop-time-hours``, and ``--patience`` after an update, not before: called
again with a final checkpoint, it makes one more update, or many more, and overwrites the checkpoint. After
``--max-epoch``, it ends at once with status 0, as if it had trained, whatever seed, rate, or data it is called with.
"""

import functools

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
    "criterion.r_drop_weight",
    "optimizer.weight_decay",
    "optimizer.adam_betas",
    "optimizer.adam_eps",
    "lr_scheduler._name",
    "lr_scheduler.warmup_updates",
    "lr_scheduler.lr_shrink",
)


def repair(train_module):
    """Let ``fairseq_cli.train`` stop before the first update if none is left, and say so."""
    train, load = train_module.train, train_module.checkpoint_utils.load_checkpoint

    @functools.wraps(train)
    def train_what_is_left(cfg, trainer, task, epoch_itr):
        if reason := _what_is_over(train_module, cfg, trainer):
            train_module.logger.info("nothing is left to train: %s", reason)
            return [None], True
        return train(cfg, trainer, task, epoch_itr)

    @functools.wraps(load)
    def load_and_compare(cfg, trainer, **kwargs):
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
    if path == "checkpoint_last.pt":
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
