"""Lets options have optional values on Python 3.14.

fairseq 0.12.2 recognizes ``Optional[int]`` by how Python writes it. Since 3.14, that is ``int | None``, and argparse
is asked to convert values by calling this type, which cannot be called.
"""

import functools
import types


def repair(dataclass_utils):
    """Let ``fairseq.dataclass.utils.interpret_dc_type`` know the other way of writing."""
    interpret = dataclass_utils.interpret_dc_type

    @functools.wraps(interpret)
    def interpret_unions(field_type):
        if isinstance(field_type, types.UnionType):
            given = [part for part in field_type.__args__ if part is not type(None)]
            if len(given) == 1 < len(field_type.__args__):
                return given[0]
        return interpret(field_type)

    dataclass_utils.interpret_dc_type = interpret_unions
