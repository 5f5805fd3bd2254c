"""Lets options hold data and nothing else.

fairseq 0.12.2 evaluates some of them as Python: ``--lr``, ``--update-freq``, ``--adam-betas``,
``--adaptive-softmax-cutoff``, the layers of its convolutional models. They may come from a configuration or from a
checkpoint, which could run code this way even though PyTorch loads it safely.
"""

import ast
import operator

from . import NEEDED
from .replacements import after_import

_OPERATORS = {ast.Add: operator.add, ast.Mult: operator.mul}


@after_import(*NEEDED["literal_options"])
def hide_eval(module):
    """Give the module a global ``eval`` that hides Python's own."""
    module.eval = evaluate


def evaluate(source):
    """Return the value of a literal, or of sums and products of literals, as in ``[(512, 3)] * 20``.

    Raises:
        ValueError: if it is anything else.
        TypeError: if it is not text.
    """
    if not isinstance(source, str):
        raise TypeError(f"an option must be text, not {source!r}")
    try:
        return _value(ast.parse(source.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        shown = source if len(source) < 80 else source[:80] + "…"
        raise ValueError(
            f"an option must consist of numbers, text, or lists or dictionaries of these, not {shown!r}"
        ) from error


def _value(node):
    if isinstance(node, (ast.List, ast.Tuple)):
        values = [_value(element) for element in node.elts]
        return values if isinstance(node, ast.List) else tuple(values)
    if not (isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS):
        return ast.literal_eval(node)
    return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
