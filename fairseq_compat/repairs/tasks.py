"""Repairs of fairseq's tasks, and of how they build models: limits, batches, dictionaries, searches."""

import dataclasses
import os

from ..replacements import after_import, around
from .comparisons import DICTIONARIES, changed_dictionaries, describe_dictionaries, task_options
from .sentence_lengths import POSITIONS, SIDES, UNLIMITED, require_lengths

#: The options that limit the lengths of sentences.
LIMITS = {side: f"max_{side}_positions" for side in SIDES}
#: Models of fairseq that read these options and have no positions.
WITHOUT_POSITIONS = ("lstm",)


@around("fairseq.tasks.fairseq_task", "FairseqTask.get_batch_iterator")
def get_batch_iterator(
    get,
    self,
    dataset,
    max_tokens=None,
    max_sentences=None,
    max_positions=None,
    ignore_invalid_inputs=False,
    *args,
    **kwargs,
):
    """Compare lengths with ``--max-tokens``, too, and name the set and the line of one that is too long.

    fairseq 0.12.2 ends at the first batch, "sentence at index 3 of size 700 exceeds max_tokens limit of 600!", whatever
    ``--skip-invalid-size-inputs-valid-test`` says.
    """
    from fairseq.utils import resolve_max_positions

    if not ignore_invalid_inputs:
        require_lengths(self, dataset, max_tokens, max_positions)
    limits = resolve_max_positions(max_positions, max_tokens)
    return get(self, dataset, max_tokens, max_sentences, limits, ignore_invalid_inputs, *args, **kwargs)


@around("fairseq.tasks.translation", "TranslationTask.setup_task")
def setup_task(setup, cls, *args, **kwargs):
    """Refuse training data in parts, ``a:b``, of which fairseq 0.12.2 reads the dictionary of the first alone."""
    from fairseq.utils import split_paths

    task = setup(cls, *args, **kwargs)
    options = task_options(task)
    first, *others = split_paths(options.data or "")
    for name in [f"dict.{language}.txt" for language in (options.source_lang, options.target_lang)]:
        for path in [os.path.join(folder, name) for folder in others]:
            # Nothing reads them: there need not be any.
            if os.path.isfile(path) and task.load_dictionary(path) != task.load_dictionary(os.path.join(first, name)):
                raise ValueError(
                    f"{path} has other words than {os.path.join(first, name)}, and training data in parts has one "
                    "dictionary: give it to fairseq-preprocess as --srcdict and --tgtdict"
                )
    return task


@around("fairseq.tasks.translation", "TranslationTask.state_dict")
def record_dictionaries(get_state, self):
    """Let checkpoints know the words of their dictionaries, of which fairseq 0.12.2 knows the size alone."""
    return {**get_state(self), DICTIONARIES: describe_dictionaries(self)}


@around("fairseq.tasks.translation", "TranslationTask.load_state_dict")
def compare_dictionaries(load, self, state):
    """Refuse to translate with dictionaries, or in a direction, that a model was not trained with."""
    if changes := changed_dictionaries(state, self):
        raise ValueError(f"not what the model was trained with: {'; '.join(changes)}")
    load(self, state)


@around("fairseq.tasks.translation", "load_langpair_dataset")
def load_langpair_dataset(load, data_path, split, src, src_dict, tgt, *args, **kwargs):
    """Truncate where nothing limits lengths."""
    if kwargs.get("truncate_source") and kwargs.get("max_source_positions") == UNLIMITED:
        kwargs["max_source_positions"] = POSITIONS
    return load(data_path, split, src, src_dict, tgt, *args, **kwargs)


@after_import("fairseq.tasks.translation")
def leave_lengths_to_the_model(translation):
    """Have no limit of lengths in a translation unless one is given.

    fairseq 0.12.2 takes no more than 1,024 tokens a side unless told otherwise, whether the model has positions or not:
    one long line, and nothing is translated. Now ``--max-source-positions`` and ``--max-target-positions`` limit where
    they are given. Without them, a recurrent model takes any sentence.
    """
    from fairseq.tasks import TASK_DATACLASS_REGISTRY
    from hydra.core.config_store import ConfigStore

    original = translation.TranslationConfig

    def limit(side):
        text = f"max number of tokens in the {side} sequence (default: as many as the model takes)"
        return int, dataclasses.field(default=UNLIMITED, metadata={"help": text})

    fields = [(option, *limit(side)) for side, option in LIMITS.items()]
    config = dataclasses.make_dataclass(original.__name__, fields, bases=(original,))
    config.__module__, config.__doc__ = original.__module__, original.__doc__
    translation.TranslationConfig = config
    # What fairseq's register_task does.
    translation.TranslationTask.__dataclass = TASK_DATACLASS_REGISTRY["translation"] = config
    node = config()
    node._name = "translation"
    ConfigStore.instance().store(name="translation", group="task", node=node, provider="fairseq")


@around("fairseq.models", "build_model")
def build_with_positions(build_model, cfg, *args, **kwargs):
    """Build a model that learns a vector for each position with fairseq's number of them where none is given."""
    for option in LIMITS.values():
        if getattr(cfg, option, None) == UNLIMITED and _architecture(cfg) not in WITHOUT_POSITIONS:
            setattr(cfg, option, POSITIONS)
    return build_model(cfg, *args, **kwargs)


def _architecture(cfg):
    """The name under which a model is registered."""
    from fairseq.models import ARCH_MODEL_NAME_REGISTRY

    name = getattr(cfg, "_name", None) or getattr(cfg, "arch", None)
    return ARCH_MODEL_NAME_REGISTRY.get(name, name)
