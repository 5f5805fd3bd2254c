"""Refuses to go on with a checkpoint as another function of its parameters.

fairseq 0.12.2 compares the names and shapes of parameters, and nothing else: with another activation, another number of
heads, or embeddings that are now shared, training continues as another model without a word.
"""

import dataclasses
import functools
import os

from .missing_checkpoints import last_checkpoint
from .other_dictionaries import changed_dictionaries

#: Options of fairseq's own models that change what is computed, but need not change any parameter's name or shape.
#: A model whose dataclass has the mark below is compared in all its options, except those with the mark set.
SAME_SHAPES = (
    "activation_fn",
    "encoder_attention_heads",
    "decoder_attention_heads",
    "encoder_normalize_before",
    "decoder_normalize_before",
    "no_scale_embedding",
    "no_token_positional_embeddings",
    "share_decoder_input_output_embed",
    "share_all_embeddings",
    "weight_softmax",
)
#: In the metadata of a dataclass's field: whether a model computes the same with any value of that option.
KEEPS_FUNCTION = "keeps_function"
#: Likewise: former names of values, and what each is called now.
FORMER_NAMES = "former_names"


def repair(trainer_module):
    """Let ``fairseq.trainer.Trainer.load_checkpoint`` compare the options before it takes the parameters."""
    checkpoint_utils, logger = trainer_module.checkpoint_utils, trainer_module.logger
    load_checkpoint = trainer_module.Trainer.load_checkpoint

    @functools.wraps(load_checkpoint)
    def load_the_same_model(
        self, filename, reset_optimizer=False, reset_lr_scheduler=False, optimizer_overrides=None, reset_meters=False
    ):
        resets = (reset_optimizer, reset_lr_scheduler, reset_meters, self.cfg.checkpoint.reset_dataloader)
        if any(resets):
            _check_vectors(filename, self.cfg, self.checkpoint_suffix)
        load = checkpoint_utils.load_checkpoint_to_cpu

        def load_and_compare(path, *args, **kwargs):
            state = load(path, *args, **kwargs)
            changes = changed_options(model_options(state), self.cfg.model)
            changes += changed_dictionaries(state.get("task_state") or {}, self.task)
            if changes:
                if not any(resets):
                    raise ValueError(_refusal(path, changes))
                logger.warning("%s is continued as another model: %s", path, ", ".join(changes))
            return state

        checkpoint_utils.load_checkpoint_to_cpu = load_and_compare
        try:
            extra = load_checkpoint(
                self, filename, reset_optimizer, reset_lr_scheduler, optimizer_overrides, reset_meters
            )
        finally:
            checkpoint_utils.load_checkpoint_to_cpu = load
        if extra is not None and not reset_optimizer:
            for name, kept, asked in _kept_settings(self.optimizer, optimizer_overrides or {}):
                message = "the optimizer of %s goes on with its %s of %s, not %s: --optimizer-overrides changes it"
                logger.warning(message, filename, name, kept, asked)
        return extra

    trainer_module.Trainer.load_checkpoint = load_the_same_model


def _check_vectors(filename, cfg, suffix):
    """Raises ValueError if a checkpoint's embeddings would take the place of vectors that were asked for.

    Those of this training's own last checkpoint began with these vectors.
    """
    last = last_checkpoint(cfg.checkpoint, suffix)
    if not os.path.exists(filename) or os.path.realpath(filename) == os.path.realpath(last):
        return
    source = "--finetune-from-model" if filename == cfg.checkpoint.finetune_from_model else "--restore-file"
    for option in ("encoder_embed_path", "decoder_embed_path"):
        if _value(cfg.model, option):
            flag = f"--{option.replace('_', '-')}"
            raise ValueError(f"{flag}: {source} {filename} has embeddings of its own: leave one out")


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


def model_options(state):
    """The options of the model in a checkpoint that has been read; None if it has none."""
    if state.get("args") is not None:
        return state["args"]
    return state["cfg"]["model"] if state.get("cfg") is not None else None


def changed_options(before, after):
    """The options in which two models' functions differ, each as ``--option value → other value``.

    An option that a checkpoint does not know yet has its default. Of models without the mark, only options that both
    sides know are compared.
    """
    if before is None or after is None:
        return []
    name, other = (_value(options, "_name", _value(options, "arch")) for options in (before, after))
    fields = _marked_fields(name) or _marked_fields(other)
    if not fields:
        defaults = dict.fromkeys(SAME_SHAPES)
        compared = [option for option in SAME_SHAPES if None not in (_value(before, option), _value(after, option))]
    elif name != other:
        return [f"--arch {name} → {other}"]
    else:
        defaults = {field.name: field.default for field in fields}
        compared = [field.name for field in fields if not field.metadata.get(KEEPS_FUNCTION, False)]
    former_names = {field.name: field.metadata.get(FORMER_NAMES, {}) for field in fields}
    changes = []
    for option in compared:
        old, new = (str(_value(options, option, defaults[option])) for options in (before, after))
        names = former_names.get(option, {})
        if names.get(old, old) != names.get(new, new):
            changes.append(f"--{option.replace('_', '-')} {old} → {new}")
    return changes


def _marked_fields(name):
    """The options of a registered model if its dataclass says which of them keep the function, otherwise none."""
    from fairseq.models import MODEL_DATACLASS_REGISTRY

    dataclass = MODEL_DATACLASS_REGISTRY.get(name)
    fields = [] if dataclass is None else [field for field in dataclasses.fields(dataclass) if field.name != "_name"]
    return fields if any(KEEPS_FUNCTION in field.metadata for field in fields) else []


def _value(options, name, default=None):
    return options.get(name, default) if isinstance(options, dict) else getattr(options, name, default)


def _refusal(path, changes):
    return (
        f"{path} holds another model than these options make: {', '.join(changes)}. Use those it was trained with, or "
        f"another --save-dir for a new model. To train its parameters as the other model all the same, use another "
        f"--save-dir and --finetune-from-model {path}, or --reset-optimizer"
    )
