"""Keeps hydra's advice to fairseq's authors off the screen of those who use fairseq.

Since hydra 1.1, each command of fairseq 0.12.2 begins with up to six warnings about the way it calls hydra and about
the header of its configurations. Nothing that a user could do makes them go away, and hydra 1.3 does what 1.0 did.
"""

import warnings

#: How those warnings begin.
ADVICE = (
    r"hydra\.experimental\.\w+\(\) is no longer experimental",
    r"\s*The version_base parameter is not specified",
    r"\s*The strict flag in the compose API is deprecated",
    r"In '.*': Usage of deprecated keyword in package header '# @package _group_'",
    r"\s*Future Hydra versions will no longer change working directory",
    r"\s*'.*' is validated against ConfigStore schema with the same name",
)


def repair(_initialize):
    """Ignore the warnings, unless the user has asked for warnings of all kinds with ``-W``."""
    for beginning in ADVICE:
        warnings.filterwarnings("ignore", beginning, UserWarning, append=True)
