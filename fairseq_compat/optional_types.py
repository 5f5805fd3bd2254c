"""Lets options have optional values on Python 3.14.

fairseq 0.12.2 recognizes ``Optional[int]`` by how Python writes it. Since 3.14, that is ``int | None``, and argparse
is asked to convert values by calling this type, which cannot be called.
"""

import types

from .replacements import around


@around("fairseq.dataclass.utils", "interpret_dc_type")
def interpret_unions(interpret, field_type):
    """Know the other way of writing."""
    if isinstance(field_type, types.UnionType):
        given = [part for part in field_type.__args__ if part is not type(None)]
        if len(given) == 1 < len(field_type.__args__):
            return given[0]
    return interpret(field_type)
