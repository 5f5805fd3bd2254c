"""Recurrent encoder–decoders for machine translation, as a fairseq plug-in.

``fairseq-train … --user-dir user_dir`` imports this package by its folder's name. That registers the models, the
criterions, the optimizer, the tasks, and the scorers, and makes ``--help`` list their options. Everything that needs no
fairseq is in ``recurrent_mt``.
"""

import fairseq_compat

# Python has done so when it started, except where it runs no .pth file: in a folder on PYTHONPATH.
fairseq_compat.install()

from . import criterions, help_option, models, optim, scoring, tasks  # noqa: E402, F401
