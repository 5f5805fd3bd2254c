"""In what a checkpoint differs from the training, or the task, that is to go on with it.

A plug-in says what its options decide in the metadata of their fields (:data:`DECIDES`); fairseq's own are named here.
"""

import dataclasses
import zlib

#: In the metadata of a dataclass's field: what an option decides. "function": what a model computes; "training": what
#: a training makes of it; "batches": which pairs are in which batch; None: nothing of these. A model whose dataclass
#: has the mark is compared in all its options, those without it as "function".
DECIDES = "decides"
#: Likewise: former names of values, and what each is called now.
FORMER_NAMES = "former_names"
#: Options of fairseq's own models that change what is computed, but need not change any parameter's name or shape.
SAME_SHAPES = (
    *("activation_fn", "encoder_attention_heads", "decoder_attention_heads", "weight_softmax"),
    *("encoder_normalize_before", "decoder_normalize_before", "no_scale_embedding", "no_token_positional_embeddings"),
    *("share_decoder_input_output_embed", "share_all_embeddings"),
)
#: fairseq's options that decide which pairs are in which batch.
BATCHES = (
    *("dataset.train_subset", "dataset.max_tokens", "dataset.batch_size", "dataset.required_batch_size_multiple"),
    *("dataset.grouped_shuffling", "dataset.update_ordered_indices_seed", "common.seed"),
    *("optimization.skip_remainder_batch", "distributed_training.distributed_world_size"),
    *("task.max_source_positions", "task.max_target_positions", "task.truncate_source"),
    *("task.num_batch_buckets", "task.upsample_primary"),
)
#: Those that make another model, besides. fairseq itself refuses another criterion or optimizer, and
#: :func:`changed_options` finds another function.
TRAINING = (
    *("optimization.lr", "optimization.update_freq", "optimization.clip_norm", "optimization.sentence_avg"),
    *("dataset.curriculum", "criterion.label_smoothing"),
    *("optimizer.weight_decay", "optimizer.adam_betas", "optimizer.adam_eps"),
    *("lr_scheduler._name", "lr_scheduler.warmup_updates", "lr_scheduler.lr_shrink"),
    *("model.dropout", "model.encoder_dropout_in", "model.encoder_dropout_out"),
    *("model.decoder_dropout_in", "model.decoder_dropout_out"),
    *("model.encoder_freeze_embed", "model.decoder_freeze_embed"),
)
#: Stands for the value of an option that a configuration does not have.
UNKNOWN = object()
#: What is added to the state of a task in each checkpoint; fairseq itself takes no notice of it.
DICTIONARIES = "dictionaries"


def changed_options(before, after):
    """The options in which two models' functions differ, each as ``--option value → other value``.

    An option that a checkpoint does not know yet has its default. Of models without the mark, only options that both
    sides know are compared.
    """
    if before is None or after is None:
        return []
    name, other = (_value(options, "_name", _value(options, "arch")) for options in (before, after))
    fields = _marked_fields("model", name) or _marked_fields("model", other)
    if fields and name != other:
        return [f"--arch {name} → {other}"]
    defaults = {field.name: field.default for field in fields if field.metadata.get(DECIDES, "function") == "function"}
    former_names = {field.name: field.metadata.get(FORMER_NAMES, {}) for field in fields}
    if not fields:
        both_know = [option for option in SAME_SHAPES if None not in (_value(before, option), _value(after, option))]
        defaults = dict.fromkeys(both_know)
    changes = []
    for option, default in defaults.items():
        old, new = (str(_value(options, option, default)) for options in (before, after))
        names = former_names.get(option, {})
        if names.get(old, old) != names.get(new, new):
            changes.append(f"--{option.replace('_', '-')} {old} → {new}")
    return changes


def changed_dictionaries(task_state, task):
    """In what a task differs from the one whose state a checkpoint holds; nothing if that does not say it.

    Args:
        task_state: of the checkpoint.
        task: a task of fairseq; None if there is none.
    """
    # Other tasks, those of several languages among them, choose their dictionaries anew each time they are used.
    states = (task_state, {} if task is None else task.state_dict())
    before, after = (state.get(DICTIONARIES) for state in states)
    if before is None or after is None:
        return []
    old, new = (tuple(known[side]["language"] for side in ("source", "target")) for known in (before, after))
    if old == new[::-1] != new:
        return [f"{old[0]}-{old[1]} → {new[0]}-{new[1]}"]
    return [
        f"the {side} dictionary in {task_options(task).data} has other words"
        for side in ("source", "target")
        if before[side]["words"] != after[side]["words"]
    ]


def describe_dictionaries(task):
    """Each side's language and a checksum of its words, in their order."""
    sides = (("source", task.source_dictionary), ("target", task.target_dictionary))
    return {
        side: {
            "language": getattr(task_options(task), f"{side}_lang", None),
            "words": zlib.crc32("\n".join(dictionary.symbols).encode()),
        }
        for side, dictionary in sides
    }


def task_options(task):
    """The options of a task of either of fairseq's kinds."""
    return task.cfg if task.cfg is not None else task.args


def training_differences(cfg, sentences, trainer):
    """Say in what a training differs from one of this configuration; the arguments are those of `batch_differences`.

    An option that a side does not know, such as a checkpoint that is older than the option, is no difference.
    """
    options = dict.fromkeys((*TRAINING, *_marked_options("model", trainer, "training")))
    found = _differing(options, cfg, trainer.cfg, UNKNOWN, _is_another_value)
    batches = _differing_batches(cfg, trainer)
    return [*batches, *found, *_differing_data(sentences, trainer)]


def batch_differences(cfg, sentences, trainer):
    """Say in which options and in how many sentences the batches differ from those of this configuration.

    Args:
        cfg: of the other training; None if its checkpoint is of an earlier version of fairseq.
        sentences: of its training data; None if that is not known.
        trainer: of this training.
    """
    return [*_differing_batches(cfg, trainer), *_differing_data(sentences, trainer)]


def _differing_batches(cfg, trainer):
    options = (*BATCHES, *_marked_options("task", trainer, "batches"))
    # No limit is None or 0.
    return _differing(options, cfg, trainer.cfg, None, lambda before, now: (before or 0) != (now or 0))


def _differing_data(sentences, trainer):
    now = len(trainer.task.dataset(trainer.cfg.dataset.train_subset))
    return [] if sentences in (None, now) else [f"the training data had {sentences} sentences and has {now}"]


def _differing(options, cfg, other_cfg, default, differ):
    """Which options differ in two configurations, each in a sentence; none without a configuration."""
    found = []
    for option in options if cfg else ():
        group, _, name = option.partition(".")
        before, now = (_value(_value(config, group, default), name, default) for config in (cfg, other_cfg))
        if differ(before, now):
            name = "--" + option.removesuffix("._name").rpartition(".")[2].replace("_", "-")
            found.append(f"{name} was {before} and is {now}")
    return found


def _is_another_value(before, now):
    if before is UNKNOWN or now is UNKNOWN:
        return False
    # Adam's betas are numbers or their text, with or without spaces.
    first, second = (str(value).replace(" ", "").strip("([])") for value in (before, now))
    return before != now and first != second


def _marked_options(group, trainer, decided):
    """The options of the training's model or task whose dataclass says that they decide this."""
    fields = _marked_fields(group, _value(_value(trainer.cfg, group), "_name"))
    return [f"{group}.{field.name}" for field in fields if field.metadata.get(DECIDES) == decided]


def _marked_fields(group, name):
    """The options of a registered model or task if its dataclass says of any what it decides, otherwise none."""
    from fairseq.models import MODEL_DATACLASS_REGISTRY
    from fairseq.tasks import TASK_DATACLASS_REGISTRY

    dataclass = {"model": MODEL_DATACLASS_REGISTRY, "task": TASK_DATACLASS_REGISTRY}[group].get(name)
    fields = [] if dataclass is None else [field for field in dataclasses.fields(dataclass) if field.name != "_name"]
    return fields if any(DECIDES in field.metadata for field in fields) else []


def _value(options, name, default=None):
    return options.get(name, default) if isinstance(options, dict) else getattr(options, name, default)
