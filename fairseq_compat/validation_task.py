"""Lets ``fairseq-validate`` do without ``--task``, as the other commands do.

fairseq 0.12.2 has no default there, and ends in ``KeyError: None`` without saying what is missing. The task that is
validated is the checkpoint's in any case; the option only says which other options there are.
"""

import functools


def repair(options):
    """Give ``fairseq.options.get_validation_parser`` the default of the other commands."""
    get_parser = options.get_validation_parser

    @functools.wraps(get_parser)
    def get_parser_with_task(default_task=None):
        return get_parser(default_task or "translation")

    options.get_validation_parser = get_parser_with_task
