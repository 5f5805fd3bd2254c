"""What is wrong with options: values that mean nothing, and names that there are not, each said in a sentence.

fairseq 0.12.2 takes such values: ``--lenpen nan`` lists hypotheses in any order, ``--sampling-topp 1.5`` samples from
all words, ``--nbest 5 --beam 2`` lists two hypotheses, ``--lm-weight`` without a model weighs nothing, ``--lr -1`` and
``--label-smoothing 2`` unlearn, ``--decoder-freeze-embed`` keeps a shared output layer as it was drawn.
``--validate-interval 0`` ends in a ZeroDivisionError after an epoch that nobody saved. And it takes no notice of names
in ``--eval-bleu-args`` and ``--model-overrides`` that it does not know: ``{"bem": 1}`` searches with a beam of 5, and a
model is translated with as it was trained.
"""

import ast
import difflib
import math
import os
from argparse import Namespace
from collections.abc import Mapping

_POSITIVE = (lambda number: number >= 1, "at least 1")
#: Which numbers an option may be, and how to say so; None, where it is the default, is no number.
CHECKS = {
    "batch_size": _POSITIVE,
    "batch_size_valid": _POSITIVE,
    "max_tokens": _POSITIVE,
    "max_tokens_valid": _POSITIVE,
    "update_freq": _POSITIVE,
    "log_interval": _POSITIVE,
    "save_interval": _POSITIVE,
    "validate_interval": _POSITIVE,
    "beam": _POSITIVE,
    "nbest": _POSITIVE,
    "lr": (lambda rate: rate >= 0, "at least 0"),
    "label_smoothing": (lambda share: 0 <= share < 1, "at least 0 and below 1"),
    "lenpen": (math.isfinite, "a finite number"),
    "sampling_topp": (lambda share: share < 0 or 0 < share <= 1, "above 0 and at most 1, or negative for none"),
}
#: Options that keep a matrix as it is, and those that make it the output layer's, too.
FROZEN_OUTPUTS = (
    ("decoder_freeze_embed", "share_decoder_input_output_embed"),
    ("decoder_freeze_embed", "share_all_embeddings"),
    ("encoder_freeze_embed", "share_all_embeddings"),
)


def problem(options):
    """What is wrong with options, by name, in a sentence; None if nothing is."""
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        numbers = [number for number in (value if isinstance(value, (list, tuple)) else [value]) if _is_number(number)]
        if any(number != number for number in numbers):
            return f"{flag} must be a number, not nan"
        allowed, what = CHECKS.get(name, (None, ""))
        if allowed is not None and not all(map(allowed, numbers)):
            return f"{flag} must be {what}, not {', '.join(map(str, numbers))}"
    return _contradiction(options)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _contradiction(options):
    nbest = options.get("nbest", 0)
    beam = options.get("beam", nbest)
    if nbest > beam:
        return f"--nbest {nbest} needs a search with as many hypotheses: --beam {nbest}, not --beam {beam}"
    if options.get("lm_weight") and options.get("lm_path") is None:
        return f"--lm-weight {options['lm_weight']} needs a language model: --lm-path"
    for frozen, shared in FROZEN_OUTPUTS:
        if options.get(frozen) and options.get(shared):
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
