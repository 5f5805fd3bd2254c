"""Says why training cannot go on in the middle of an epoch, or goes on with other batches.

A checkpoint says how many batches of its epoch have been seen. If the epoch is divided otherwise when fairseq 0.12.2
continues, it skips as many of the new batches: pairs come twice, others not at all. It says nothing about that unless
there are fewer batches than it skips: "please report this to the fairseq developers".
"""

import functools

#: Options that decide which pairs are in which batch.
OPTIONS = (
    "dataset.train_subset",
    "dataset.max_tokens",
    "dataset.batch_size",
    "dataset.required_batch_size_multiple",
    "dataset.grouped_shuffling",
    "dataset.update_ordered_indices_seed",
    "common.seed",
    "optimization.skip_remainder_batch",
    "distributed_training.distributed_world_size",
    "task.max_source_positions",
    "task.max_target_positions",
    "task.truncate_source",
    "task.num_batch_buckets",
    "task.upsample_primary",
    # those of --task published_translation; other tasks have none of them
    "task.sort_k_batches",
    "task.max_train_words",
)
#: Stands for the value of an option that a configuration does not have.
UNKNOWN = object()


def repair(module):
    """Let a checkpoint also know how many sentences there were, and compare when it is loaded."""
    if module.__name__ == "fairseq.data.iterators":
        iterator_class = module.EpochBatchIterator
        iterator_class.state_dict = _counting_sentences(iterator_class.state_dict)
        return
    read, load, logger = module.load_checkpoint_to_cpu, module.load_checkpoint, module.logger
    saved: dict = {}

    @functools.wraps(read)
    def read_and_remember(path, *args, **kwargs):
        state = read(path, *args, **kwargs)
        saved.update(
            path=path,
            cfg=state.get("cfg"),
            sentences=(state.get("extra_state") or {}).get("train_iterator", {}).get("sentences"),
        )
        return state

    @functools.wraps(load)
    def load_and_compare(cfg, trainer, **kwargs):
        saved.clear()
        try:
            extra_state, epoch_itr = load(cfg, trainer, **kwargs)
        except RuntimeError as error:
            if "dataloader mismatch" not in str(error):
                raise
            reasons = "; ".join(_differences(saved, trainer)) or "the data or an option has changed"
            raise RuntimeError(
                f"{saved.get('path', cfg.restore_file)} was saved in the middle of an epoch that has fewer batches "
                f"now: {reasons}. Continue with what it was saved with, or with --reset-dataloader, which begins with "
                "epoch 1"
            ) from None
        if epoch_itr.iterations_in_epoch > 0 and (reasons := _differences(saved, trainer)):
            logger.warning(
                "%s was saved in the middle of an epoch with other batches: %s. In this epoch, some pairs come twice "
                "and others not at all; --reset-dataloader begins with epoch 1",
                *(saved["path"], "; ".join(reasons)),
            )
        return extra_state, epoch_itr

    module.load_checkpoint_to_cpu = read_and_remember
    module.load_checkpoint = load_and_compare


def _counting_sentences(state_dict):
    @functools.wraps(state_dict)
    def state_with_sentences(self):
        return {**state_dict(self), "sentences": len(self.dataset)}

    return state_with_sentences


def _differences(saved, trainer):
    """Say what differs between a checkpoint and this training; nothing in a process that has not read it."""
    return option_differences(saved["cfg"], saved["sentences"], trainer) if saved.get("cfg") else []


def option_differences(cfg, sentences, trainer, more=()):
    """Say in which options and in how many sentences a training differs from one of this configuration.

    Args:
        cfg: of the other training; None if its checkpoint is of an earlier version of fairseq.
        sentences: of its training data; None if that is not known.
        trainer: of this training.
        more: options to compare, besides those that decide which pairs are in which batch. Of these, one that a side
            does not know, such as a checkpoint that is older than the option, is no difference.
    """
    found = []
    for option in (*OPTIONS, *more) if cfg else ():
        before, now = (_value(config, option, None if option in OPTIONS else UNKNOWN) for config in (cfg, trainer.cfg))
        if _differ(before, now, none_is_zero=option in OPTIONS):
            name = "--" + option.removesuffix("._name").rpartition(".")[2].replace("_", "-")
            found.append(f"{name} was {before} and is {now}")
    now = len(trainer.task.dataset(trainer.cfg.dataset.train_subset))
    if sentences not in (None, now):
        found.append(f"the training data had {sentences} sentences and has {now}")
    return found


def _differ(before, now, *, none_is_zero):
    if before is UNKNOWN or now is UNKNOWN:
        return False
    if none_is_zero:
        # No limit is the one or the other.
        return (before or 0) != (now or 0)
    # Adam's betas are numbers or their text, with or without spaces.
    first, second = (str(value).replace(" ", "").strip("([])") for value in (before, now))
    return before != now and first != second


def _value(config, option, default):
    for name in option.split("."):
        config = getattr(config, name, default)
    return config
