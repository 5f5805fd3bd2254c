"""Keeps advice off the screen that those who use fairseq cannot follow, or have no reason to.

Since hydra 1.1, each command of fairseq 0.12.2 begins with up to six warnings about the way it calls hydra and about
the header of its configurations. Nothing that a user could do makes them go away, and hydra 1.3 does what 1.0 did.
fairseq asks for pinned memory everywhere, and PyTorch warns where there is no GPU. Since PyTorch 2.4, each training
begins with the advice to write ``torch.amp`` in fairseq, and since 2.15 each command with the one to do without
``torch.jit.script``. And each command asks to install tensorboardX, which one task
for speech uses.
"""

import logging
import warnings

from .replacements import after_import

#: How warnings begin.
ADVICE = (
    r"hydra\.experimental\.\w+\(\) is no longer experimental",
    r"\s*The version_base parameter is not specified",
    r"\s*The strict flag in the compose API is deprecated",
    r"In '.*': Usage of deprecated keyword in package header '# @package _group_'",
    r"\s*Future Hydra versions will no longer change working directory",
    r"\s*'.*' is validated against ConfigStore schema with the same name",
    r"'pin_memory' argument is set as true but no accelerator is found",
    r"`torch\.cuda\.amp\.\w+\(args\.\.\.\)` is deprecated",
    r"`torch\.jit\.script` is",
)


@after_import("fairseq.dataclass.initialize")
def ignore_advice(_initialize):
    """Ignore the warnings, unless the user has asked for warnings of all kinds with ``-W``, and drop the line."""
    for beginning in ADVICE:
        warnings.filterwarnings("ignore", beginning, append=True)
    # The module writes it while it is imported, which comes later.
    logging.getLogger("fairseq.tasks.text_to_speech").addFilter(
        lambda record: not record.getMessage().startswith("Please install tensorboardX")
    )
