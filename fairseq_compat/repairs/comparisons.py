"""In what a checkpoint differs from the training, or the task, that is to go on with it.

A plug-in says what its options decide in the metadata of their fields (:data:`DECIDES`); fairseq's own are named here.
"""

import dataclasses
import zlib

#: In the metadata of a dataclass's field: what an option decides. "function": what a model computes; "batches": which
#: pairs are in which batch; anything else: neither. If any option of a model has the mark, those without count as
#: "function".
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
#: What is added to the state of a task in each checkpoint; fairseq itself takes no notice of it.
DICTIONARIES = "dictionaries"


def changed_options(before, after):
    """The options in which two models' functions differ, each as ``--option value → other value``.

    An option that a checkpoint does not know yet has its default. Of models without the mark, only options that both
    sides know are compared.
    """
    from fairseq.models import MODEL_DATACLASS_REGISTRY

    if before is None or after is None:
        return []
    name, other = (_value(options, "_name", _value(options, "arch")) for options in (before, after))
    fields = _marked_fields(MODEL_DATACLASS_REGISTRY, name) or _marked_fields(MODEL_DATACLASS_REGISTRY, other)
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


def batch_differences(cfg, sentences, trainer):
    """Say in which options and in how many sentences the batches differ from those of this configuration.

    Args:
        cfg: of the other training; None if its checkpoint is of an earlier version of fairseq.
        sentences: of its training data; None if that is not known.
        trainer: of this training.
    """
    from fairseq.tasks import TASK_DATACLASS_REGISTRY

    task = _marked_fields(TASK_DATACLASS_REGISTRY, _value(_value(trainer.cfg, "task"), "_name"))
    marked = [f"task.{field.name}" for field in task if field.metadata.get(DECIDES) == "batches"]
    found = []
    for option in (*BATCHES, *marked) if cfg else ():
        group, _, name = option.partition(".")
        before, now = (_value(_value(config, group), name) for config in (cfg, trainer.cfg))
        # No limit is None or 0.
        if (before or 0) != (now or 0):
            found.append(f"--{name.replace('_', '-')} was {before} and is {now}")
    now = len(trainer.task.dataset(trainer.cfg.dataset.train_subset))
    if sentences not in (None, now):
        found.append(f"the training data had {sentences} sentences and has {now}")
    return found


def _marked_fields(registry, name):
    """The options of a registered model or task if its dataclass says of any what it decides, otherwise none."""
    dataclass = registry.get(name)
    fields = [] if dataclass is None else [field for field in dataclasses.fields(dataclass) if field.name != "_name"]
    return fields if any(DECIDES in field.metadata for field in fields) else []


def _value(options, name, default=None):
    return options.get(name, default) if isinstance(options, dict) else getattr(options, name, default)
