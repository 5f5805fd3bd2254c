"""Joins ``train1`` to ``train``, and ``valid1`` to ``valid`` with ``--combine-valid-subsets``, as they are.

fairseq 0.12.2 takes the first part -1 times unless ``--upsample-primary`` says how often: negative dimensions are not
allowed.
"""

import functools


def repair(translation):
    """Let ``load_langpair_dataset`` of ``fairseq.tasks.translation`` take it once."""
    load = translation.load_langpair_dataset

    @functools.wraps(load)
    def load_once(*args, **kwargs):
        if kwargs.get("upsample_primary", 1) < 0:
            kwargs["upsample_primary"] = 1
        return load(*args, **kwargs)

    translation.load_langpair_dataset = load_once
