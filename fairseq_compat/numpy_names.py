"""Gives fairseq's modules the names that numpy has dropped.

fairseq 0.12.2 asks for ``np.compat.long`` where it counts tokens and cuts text into blocks (numpy 2 dropped it), for
``np.int`` where it masks spans, and for ``np.float`` in its CRF layer (dropped by numpy 1.24).
"""

import types

#: What each name used to mean.
DROPPED = {"int": int, "float": float, "compat": types.SimpleNamespace(long=int)}


def repair(module):
    """Let the module's ``np`` be a view of numpy that also has the names numpy itself lacks."""
    missing = {name: value for name, value in DROPPED.items() if not hasattr(module.np, name)}
    if missing:
        module.np = _NumpyWithOldNames(module.np, missing)


class _NumpyWithOldNames(types.ModuleType):
    """numpy, with further names."""

    def __init__(self, numpy, names):
        super().__init__(numpy.__name__)
        self.__dict__.update(names, _numpy=numpy)

    def __getattr__(self, name):
        return getattr(self._numpy, name)
