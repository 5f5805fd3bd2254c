"""Refuses misspelled options in ``--eval-bleu-args`` and ``--model-overrides``.

fairseq 0.12.2 takes no notice of those that it does not know: ``{"bem": 1}`` searches with a beam of 5, and a model is
translated with as it was trained.
"""

import ast
import difflib
import functools
import json
import os
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import fields


def repair(module):
    """Look at the options of the search before training, and at those of a model before it is loaded."""
    if module.__name__ == "fairseq.tasks.translation":
        module.TranslationTask.build_model = _knowing_the_search(module.TranslationTask.build_model)
    else:
        module.main = _knowing_the_models(module.main)


def _knowing_the_search(build_model):
    @functools.wraps(build_model)
    def build_model_with_known_options(self, cfg, from_checkpoint=False):
        from fairseq.dataclass.configs import GenerationConfig

        # A model that was trained with a misspelled option is loaded all the same.
        if self.cfg.eval_bleu and not from_checkpoint:
            known = {field.name for field in fields(GenerationConfig)}
            _check("--eval-bleu-args", json.loads(self.cfg.eval_bleu_args), known, "there is")
        return build_model(self, cfg, from_checkpoint)

    return build_model_with_known_options


def _knowing_the_models(main):
    @functools.wraps(main)
    def main_with_known_overrides(cfg, *args, **kwargs):
        from fairseq.checkpoint_utils import load_checkpoint_to_cpu
        from fairseq.utils import split_paths

        options = getattr(cfg, "common_eval", cfg)
        overrides = ast.literal_eval(options.model_overrides)
        paths = [path for path in split_paths(options.path or "") if os.path.exists(path)]
        if overrides and paths:
            states = map(load_checkpoint_to_cpu, paths)
            known = {name for state in states for part in ("args", "cfg") for name in _names(state.get(part))}
            _check("--model-overrides", overrides, known, f"{options.path} has")
        return main(cfg, *args, **kwargs)

    return main_with_known_overrides


def _names(options):
    """The names of all options in a checkpoint's, which are in groups."""
    if isinstance(options, Namespace):
        options = vars(options)
    if isinstance(options, Mapping):
        for name in options:
            yield name
            yield from _names(options.get(name))


def _check(flag, options, known, has):
    """Raises ValueError for the first option that is not known."""
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise ValueError(f"{flag}: {has} no option {name!r}{f', but {near[0]!r}' if near else ''}")
