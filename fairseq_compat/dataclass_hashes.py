"""Makes the dataclasses of fairseq and hydra hashable, so that they can be defaults of one another.

Since Python 3.11, ``dataclasses`` considers a default without a hash mutable and rejects it, and a plain ``@dataclass``
has none. fairseq 0.12.2 nests its configurations in just this way, and so did hydra until 1.1::

    ValueError: mutable default <class 'fairseq.dataclass.configs.CommonConfig'> for field common is
    not allowed: use default_factory

The repair adds ``unsafe_hash=True`` for the classes of these packages and the classes derived from them.
"""

import functools

from .replacements import after_import

#: Packages whose dataclasses are defaults of one another.
PACKAGES = frozenset({"fairseq", "fairseq_cli", "hydra"})


@after_import("dataclasses")
def add_hashes(dataclasses):
    """Wrap ``dataclasses.dataclass``, unless a reload has left it wrapped."""
    if hasattr(dataclasses.dataclass, "__wrapped__"):
        return
    dataclass = dataclasses.dataclass

    # PyTorch 2.6 looks into the keyword defaults for what this Python's dataclasses can do.
    @functools.wraps(dataclass, assigned=(*functools.WRAPPER_ASSIGNMENTS, "__kwdefaults__"))
    def dataclass_with_hash(cls=None, /, **options):
        if cls is None:
            return functools.partial(dataclass_with_hash, **options)
        if _lacks_hash(cls, options):
            options = {**options, "unsafe_hash": True}
        return dataclass(cls, **options)

    dataclasses.dataclass = dataclass_with_hash


def _lacks_hash(cls, options):
    """True for a class of :data:`PACKAGES`, or derived from one, that has no hash of its own."""
    if not any(base.__module__.partition(".")[0] in PACKAGES for base in cls.__mro__):
        return False
    # A class body that only defines __eq__ gets `__hash__ = None` from Python itself.
    return options.get("eq", True) and cls.__dict__.get("__hash__") is None
