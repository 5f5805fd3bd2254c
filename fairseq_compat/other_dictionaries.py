"""Refuses dictionaries, and a direction of translation, that a model was not trained with.

fairseq 0.12.2 knows a dictionary by its size alone. A model that meets another one of its size, as every corpus has
with ``--nwordssrc`` or SentencePiece, or the languages the other way round with a dictionary for both, reads and writes
other words than it has learned, without a word. Of training data in parts, ``a:b``, it reads the first dictionary, and
trains on the others as if they were of the same words.
"""

import functools
import os
import zlib

#: What this adds to the state of a task in each checkpoint; fairseq itself takes no notice of it.
DICTIONARIES = "dictionaries"


def repair(module):
    """Let the tasks of translation and language models record their dictionaries, and compare those of other files."""
    if module.__name__ == "fairseq.checkpoint_utils":
        _name_the_files(module)
    else:
        _compare(module.TranslationTask if hasattr(module, "TranslationTask") else module.LanguageModelingTask)


def _compare(task_class):
    state_dict, load_state_dict = task_class.state_dict, task_class.load_state_dict
    setup_task = task_class.setup_task.__func__

    @functools.wraps(setup_task)
    def setup_with_one_dictionary(cls, *args, **kwargs):
        task = setup_task(cls, *args, **kwargs)
        _check_parts(task)
        return task

    @functools.wraps(state_dict)
    def record(self):
        return {**state_dict(self), DICTIONARIES: _describe(self)}

    @functools.wraps(load_state_dict)
    def compare(self, state):
        if changes := changed_dictionaries(state, self):
            raise _OtherWordsError("; ".join(changes))
        load_state_dict(self, state)

    task_class.state_dict, task_class.load_state_dict = record, compare
    task_class.setup_task = classmethod(setup_with_one_dictionary)


def _check_parts(task):
    """Raises ValueError if one of several folders of training data has another dictionary than the first."""
    from fairseq.utils import split_paths

    options = _options(task)
    first, *others = split_paths(options.data or "")
    languages = dict.fromkeys(getattr(options, f"{side}_lang", None) for side in ("source", "target"))
    for name in [f"dict.{language}.txt" if language else "dict.txt" for language in languages]:
        for path in [os.path.join(folder, name) for folder in others]:
            # Nothing reads them: there need not be any.
            if os.path.isfile(path) and task.load_dictionary(path) != task.load_dictionary(os.path.join(first, name)):
                raise ValueError(
                    f"{path} has other words than {os.path.join(first, name)}, and training data in parts has one "
                    "dictionary: give it to fairseq-preprocess as --srcdict and --tgtdict"
                )


class _OtherWordsError(ValueError):
    """What a model of some file was not trained with."""


def _name_the_files(checkpoint_utils):
    load = checkpoint_utils.load_model_ensemble_and_task

    @functools.wraps(load)
    def load_or_name(filenames, *args, **kwargs):
        try:
            return load(filenames, *args, **kwargs)
        except _OtherWordsError as error:
            raise ValueError(f"{', '.join(filenames)}: not what the model was trained with: {error}") from None

    checkpoint_utils.load_model_ensemble_and_task = load_or_name


def _describe(task):
    """Each side's language and a checksum of its words, in their order."""
    sides = (("source", task.source_dictionary), ("target", task.target_dictionary))
    return {
        side: {
            "language": getattr(_options(task), f"{side}_lang", None),
            "words": zlib.crc32("\n".join(dictionary.symbols).encode()),
        }
        for side, dictionary in sides
    }


def _options(task):
    return task.cfg if task.cfg is not None else task.args


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
        f"the {side} dictionary in {_options(task).data} has other words"
        for side in ("source", "target")
        if before[side]["words"] != after[side]["words"]
    ]
