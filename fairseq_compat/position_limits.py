"""Leaves the longest sentence to the model.

fairseq 0.12.2's translation takes no more than 1,024 tokens a side unless told otherwise, whether the model has
positions or not: one long line, and nothing is translated. A batch of ``--max-tokens`` is a limit of the same kind.
Now ``--max-source-positions`` and ``--max-target-positions`` limit where they are given. Without them, a recurrent
model takes any sentence, and one that learns a vector for each position has 1,024 of them, as before. When text is
translated, a sentence that is longer than a batch is a batch. `batch_limits` names what is too long.
"""

import dataclasses
import functools

from .module_view import ModuleView

#: What stands for no limit: a number, so that other programs can read the checkpoint.
UNLIMITED = 10**9
#: fairseq's number of positions.
POSITIONS = 1024
SIDES = ("source", "target")
OPTIONS = {side: f"max_{side}_positions" for side in SIDES}
#: Models of fairseq that read these options and have no positions.
WITHOUT_POSITIONS = ("lstm",)


def repair(module):
    """Repair one of the modules of fairseq that deal with limits."""
    {
        "fairseq.tasks.translation": _repair_translation,
        "fairseq.models": _repair_models,
    }.get(module.__name__, _repair_command)(module)


def _repair_translation(translation):
    from fairseq.tasks import TASK_DATACLASS_REGISTRY
    from hydra.core.config_store import ConfigStore

    original, load_dataset = translation.TranslationConfig, translation.load_langpair_dataset

    def limit(side):
        text = f"max number of tokens in the {side} sequence (default: as many as the model takes)"
        return int, dataclasses.field(default=UNLIMITED, metadata={"help": text})

    fields = [(OPTIONS[side], *limit(side)) for side in SIDES]
    config = dataclasses.make_dataclass(original.__name__, fields, bases=(original,))
    config.__module__, config.__doc__ = original.__module__, original.__doc__
    translation.TranslationConfig = config
    # What fairseq's register_task does.
    translation.TranslationTask.__dataclass = TASK_DATACLASS_REGISTRY["translation"] = config
    node = config()
    node._name = "translation"
    ConfigStore.instance().store(name="translation", group="task", node=node, provider="fairseq")

    @functools.wraps(load_dataset)
    def load_truncated(*args, **kwargs):
        if kwargs.get("truncate_source") and kwargs.get("max_source_positions") == UNLIMITED:
            kwargs["max_source_positions"] = POSITIONS
        return load_dataset(*args, **kwargs)

    translation.load_langpair_dataset = load_truncated


def _repair_models(models):
    build_model = models.build_model

    @functools.wraps(build_model)
    def build_with_positions(cfg, *args, **kwargs):
        for option in OPTIONS.values():
            if getattr(cfg, option, None) == UNLIMITED and _architecture(models, cfg) not in WITHOUT_POSITIONS:
                setattr(cfg, option, POSITIONS)
        return build_model(cfg, *args, **kwargs)

    models.build_model = build_with_positions


def _architecture(models, cfg):
    """The name under which a model is registered."""
    name = getattr(cfg, "_name", None) or getattr(cfg, "arch", None)
    return models.ARCH_MODEL_NAME_REGISTRY.get(name, name)


def _repair_command(command):
    """``fairseq_cli.generate`` and ``fairseq_cli.interactive``."""
    tasks = command.tasks

    def setup_task(*args, **kwargs):
        task = tasks.setup_task(*args, **kwargs)
        get_batch_iterator = task.get_batch_iterator

        def with_room(dataset, max_tokens=None, max_positions=None, **options):
            if max_tokens:
                max_tokens = max(max_tokens, _longest(dataset, max_positions))
            return get_batch_iterator(dataset, max_tokens=max_tokens, max_positions=max_positions, **options)

        task.get_batch_iterator = with_room
        return task

    command.tasks = ModuleView(tasks, setup_task=setup_task)


def _longest(dataset, max_positions):
    """The tokens of the longest sentence that is not too long."""
    import numpy as np

    indices = np.arange(len(dataset))
    if max_positions is not None:
        indices, _ = dataset.filter_indices_by_size(indices, max_positions)
    return int(max(map(dataset.num_tokens, indices), default=0))
