"""Options that contradict each other, and names of options that there are not, each said in a sentence.

fairseq 0.12.2 takes them without a word: ``--lm-weight`` without a model weighs nothing, ``--decoder-freeze-embed``
keeps a shared output layer as it was drawn. And it takes no notice of names in ``--eval-bleu-args`` and
``--model-overrides`` that it does not know: ``{"bem": 1}`` searches with a beam of 5, and a model is translated with as
it was trained.
"""

import ast
import difflib
import os
from argparse import Namespace
from collections.abc import Mapping

#: Options that keep a matrix as it is, and those that make it the output layer's, too.
FROZEN_OUTPUTS = (
    ("decoder_freeze_embed", "share_decoder_input_output_embed"),
    ("decoder_freeze_embed", "share_all_embeddings"),
    ("encoder_freeze_embed", "share_all_embeddings"),
)


def contradiction(options):
    """Which of some options contradict each other, in a sentence; None if none do."""

    def value(name):
        return getattr(options, name, None)

    if value("lm_weight") and value("lm_path") is None:
        return f"--lm-weight {options.lm_weight} needs a language model: --lm-path"
    for frozen, shared in FROZEN_OUTPUTS:
        if value(frozen) and value(shared):
            frozen, shared = (f"--{name.replace('_', '-')}" for name in (frozen, shared))
            return f"{frozen} would not train the output layer, which is the same matrix with {shared}: leave one out"
    return None


def check_overrides(options):
    """Raise ValueError if ``--model-overrides`` has an option that none of the models has."""
    from fairseq.checkpoint_utils import load_checkpoint_to_cpu
    from fairseq.utils import split_paths

    overrides = ast.literal_eval(options.model_overrides)
    paths = [path for path in split_paths(options.path or "") if os.path.exists(path)]
    if overrides and paths:
        states = map(load_checkpoint_to_cpu, paths)
        known = {name for state in states for part in ("args", "cfg") for name in _names(state.get(part))}
        check_names("--model-overrides", overrides, known, f"{options.path} has")


def _names(options):
    """The names of all options in a checkpoint's, which are in groups."""
    if isinstance(options, Namespace):
        options = vars(options)
    if isinstance(options, Mapping):
        for name in options:
            yield name
            yield from _names(options.get(name))


def check_names(flag, options, known, has):
    """Raise ValueError for the first option that is not known."""
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise ValueError(f"{flag}: {has} no option {name!r}{f', but {near[0]!r}' if near else ''}")
