"""Recurrent encoder–decoders for machine translation, as a fairseq plug-in.

``fairseq-train … --user-dir user_dir`` imports this package by its folder's name. Where fairseq can be imported, that
registers the models, the criterions, the task and the scorers, and has ``--help`` list their options. Without it, the
parts that need no fairseq still work: ``kernels``, ``layers``, ``metrics``, ``analysis`` and ``corpora``.
"""

from importlib.util import find_spec

if find_spec("fairseq") is not None:
    from . import criterions, help_option, models, scoring, tasks  # noqa: F401
