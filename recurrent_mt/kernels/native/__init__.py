"""The kernels in C++, ``native``, compiled for this environment's PyTorch.

The ``.cpp`` files beside this one are the operations of ``torch.ops.recurrent_mt``. ``recurrent-mt build-kernels``
compiles them, and ``scripts/setup.sh`` calls that. A library serves one version of Python and one of
PyTorch, both of which are in its name, so that a new version of either never loads an old one. It also holds a checksum
of its sources, and one that was compiled from others is not loaded. Where it cannot be built, everything runs on
``packed``.
"""

from __future__ import annotations

import functools
import sysconfig

import torch

from .sources import FOLDER, checksum

BUILD = "recurrent-mt build-kernels"


def library_name(torch_version: str) -> str:
    """The library's name, without what Python adds for its own version and the platform."""
    return "torch_" + torch_version.partition("+")[0].replace(".", "_")


@functools.cache
def reason_unavailable() -> str | None:
    """Loads the library at the first call.

    Returns:
        None if that worked; otherwise the reason, in one line.
    """
    path = FOLDER / (library_name(torch.__version__) + str(sysconfig.get_config_var("EXT_SUFFIX")))
    if not path.exists():
        return f"the native kernels are not built for PyTorch {torch.__version__}: {BUILD} builds them"
    sources = checksum(FOLDER)
    if sources is not None and sources.encode() not in path.read_bytes():
        return f"the native kernels were compiled from other sources than those in {FOLDER}: {BUILD} builds them again"
    try:
        torch.ops.load_library(str(path))
    except OSError as error:
        return f"the native kernels cannot be loaded, {BUILD} may help: {str(error).splitlines()[0]}"
    return None
