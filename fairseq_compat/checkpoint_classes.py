"""Lets fairseq read the checkpoints it writes, with PyTorch's safe loading left on.

Since PyTorch 2.6, ``torch.load`` rejects every class that is not known to be harmless. fairseq-train writes
``argparse.Namespace`` in its configuration and, with ``--eval-bleu``, numpy arrays in its meters. The repair declares
the first safe and replaces the others with classes that can only hold numbers: an untrusted checkpoint still cannot run
code. numpy's own unpickling would not do: a pickled ``numpy.dtype`` carries its memory layout, which numpy trusts, and
a made-up one turns bytes of the file into pointers. What is read here becomes plain numbers or an error.
"""

import argparse

import numpy

from .replacements import after_import

#: The kinds of dtype that are accepted: bool, signed, unsigned, floating point, complex.
NUMBER_KINDS = "biufc"


class NumberType:
    """Stands for a ``numpy.dtype`` in the file.

    Args:
        code: numpy's name for a type of numbers, such as ``i8``.
        align, copy: numpy's flags, which mean nothing for numbers.

    Raises:
        ValueError: `code` is not a type of numbers.
    """

    def __init__(self, code, align=False, copy=False):
        self.dtype = numpy.dtype(str(code))
        if self.dtype.kind not in NUMBER_KINDS:
            raise ValueError(f"a checkpoint may hold arrays of numbers, not of {code!r}")

    def __setstate__(self, state):
        """Take only the byte order from numpy's state."""
        byte_order = state[1]
        if byte_order in ("<", ">"):
            self.dtype = self.dtype.newbyteorder(byte_order)


class NumberArray(numpy.ndarray):
    """Stands for a ``numpy.ndarray`` in the file; written to another file, it is a plain array again."""

    def __new__(cls):
        """Return an empty array, which ``__setstate__`` fills."""
        return super().__new__(cls, (0,), numpy.int8)

    def __setstate__(self, state):
        """Take shape, type, order, and bytes from numpy's state; ValueError if there are too few bytes."""
        _, shape, number_type, is_fortran, content = state
        numbers = _numbers(number_type, content).reshape(shape, order="F" if is_fortran else "C")
        super().__setstate__(numbers.__reduce__()[2])

    def __reduce__(self):
        return numpy.asarray(self).__reduce__()


def reconstruct(_array_class, _shape, _type_code):
    """Begin an array, as ``numpy.core.multiarray._reconstruct`` does."""
    return NumberArray()


def scalar(number_type, content):
    """Make one number, as ``numpy.core.multiarray.scalar`` does."""
    return _numbers(number_type, content).reshape(())[()]


def _numbers(number_type, content):
    if not isinstance(number_type, NumberType):
        raise ValueError(f"a checkpoint may hold arrays of numbers, not of {number_type!r}")
    return numpy.frombuffer(content, number_type.dtype)


#: What torch.load should use, and its name in the file. numpy 2 renamed ``core`` to ``_core``.
REPLACEMENTS = (
    (NumberType, "numpy.dtype"),
    (NumberArray, "numpy.ndarray"),
    (reconstruct, "numpy.core.multiarray._reconstruct"),
    (reconstruct, "numpy._core.multiarray._reconstruct"),
    (scalar, "numpy.core.multiarray.scalar"),
    (scalar, "numpy._core.multiarray.scalar"),
)


@after_import("fairseq.checkpoint_utils")
def declare_safe(checkpoint_utils):
    """Let ``torch.load`` read those classes."""
    checkpoint_utils.torch.serialization.add_safe_globals([argparse.Namespace, *REPLACEMENTS])
