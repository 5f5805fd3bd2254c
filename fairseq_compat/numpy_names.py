"""Gives fairseq's modules what numpy has dropped.

fairseq 0.12.2 asks for ``np.compat.long`` where it counts tokens and cuts text into blocks (numpy 2 dropped it), for
``np.int`` where it masks spans, for ``np.float`` in its CRF layer (dropped by numpy 1.24), and for
``np.percentile(interpolation=...)`` where it sorts sentences into buckets of lengths (dropped by numpy 2.4).
"""

import functools
import inspect
import types

from . import NEEDED
from .replacements import ModuleView, after_import

#: What each name used to mean.
DROPPED = {"int": int, "float": float, "compat": types.SimpleNamespace(long=int)}


@after_import(*NEEDED["numpy_names"])
def add_names(module):
    """Let the module's ``np`` be a view of numpy that also has what numpy itself lacks."""
    missing = {name: value for name, value in DROPPED.items() if not hasattr(module.np, name)}
    percentile = getattr(module.np, "percentile", None)
    if percentile and "interpolation" not in inspect.signature(percentile).parameters:
        missing["percentile"] = _with_interpolation(percentile)
    if missing:
        module.np = ModuleView(module.np, **missing)


def _with_interpolation(percentile):
    @functools.wraps(percentile)
    def percentile_with_interpolation(*args, interpolation=None, **kwargs):
        if interpolation is not None:
            kwargs["method"] = interpolation
        return percentile(*args, **kwargs)

    return percentile_with_interpolation
