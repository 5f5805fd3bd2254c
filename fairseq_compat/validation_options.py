"""Lets ``fairseq-validate`` do what its options say.

fairseq 0.12.2 has no default for ``--task`` there, and ends in ``KeyError: None`` without saying what is missing. The
task that is validated is the checkpoint's in any case; the option only says which other options there are. The
criterion, too, is always the checkpoint's, whatever ``--criterion`` and the options that belong to it say.
"""

import functools
import re
from dataclasses import fields

from .module_view import ModuleView


def repair(module):
    """Give ``fairseq.options`` the default of the other commands, and ``fairseq_cli.validate`` the criterion."""
    if module.__name__ == "fairseq.options":
        module.get_validation_parser = _with_a_task(module.get_validation_parser)
    else:
        module.main = _with_a_criterion(module)


def _with_a_task(get_parser):
    @functools.wraps(get_parser)
    def get_parser_with_task(default_task=None):
        return get_parser(default_task or "translation")

    return get_parser_with_task


def _with_a_criterion(validate):
    main, checkpoint_utils = validate.main, validate.checkpoint_utils

    @functools.wraps(main)
    def main_with_a_criterion(cfg, override_args=None):
        from omegaconf import open_dict

        if not hasattr(override_args, "criterion"):
            return main(cfg, override_args)

        def load(*args, **kwargs):
            models, saved, task = checkpoint_utils.load_model_ensemble_and_task(*args, **kwargs)
            # Of the checkpoint's own criterion, fairseq changes the options that are given, and leaves the others.
            if saved.criterion._name != cfg.criterion._name:
                with open_dict(saved):
                    saved.criterion = _with_linked_options(cfg.criterion, saved)
            return models, saved, task

        validate.checkpoint_utils = ModuleView(checkpoint_utils, load_model_ensemble_and_task=load)
        try:
            return main(cfg, override_args)
        finally:
            validate.checkpoint_utils = checkpoint_utils

    return main_with_a_criterion


def _with_linked_options(criterion, saved):
    """The options of a criterion; those that are another group's, such as ``--sentence-avg``, as the model has them.

    The validation parser does not know that group, and takes the text of the link for the value.
    """
    from fairseq.criterions import CRITERION_DATACLASS_REGISTRY
    from omegaconf import OmegaConf

    kind = CRITERION_DATACLASS_REGISTRY.get(criterion._name)
    if kind is None:
        return criterion
    options = dict(criterion)
    for field in fields(kind):
        if link := re.fullmatch(r"\$\{(.+)\}", str(field.default)):
            options[field.name] = OmegaConf.select(saved, link[1])
    return options
