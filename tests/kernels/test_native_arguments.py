"""What does not fit, passed to the native operations: an error that names it, and never a crash.

``HYPOTHESIS_MAX_EXAMPLES=10000`` in the environment makes many more cases.
"""

import os

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels import test_attentive_gru, test_gru
from tests.kernels.batches import needs_native, random

EXAMPLES = int(os.environ.get("HYPOTHESIS_MAX_EXAMPLES", "100"))


def gru_call():
    counts, (inputs, initial, gate, candidate) = test_gru.arguments([3, 2], 4)
    return [inputs, initial, gate, None, candidate, None, None, list(counts)]


def attentive_gru_call():
    counts, mask, tensors = test_attentive_gru.arguments([3, 1, 2], 5, additive=True)
    inputs, initial, keys, values, gate, candidate, context, query, score = tensors
    weights = [gate, None, candidate, None, context, None]
    return [inputs, initial, keys, values, mask, weights, query, score, None, list(counts)]


def attend_call():
    _, mask, (_, initial, keys, values, *_, query, score) = test_attentive_gru.arguments([3, 1, 2], 5, additive=True)
    return [initial, keys, values, mask, query, score]


def cross_entropy_call():
    target = torch.tensor([0, 6, 2, 2, 1])
    return [random(5, 4), random(7, 4), random(7), target, 0.1, True, True, True]


CALLS = {
    "gru": gru_call,
    "attentive_gru": attentive_gru_call,
    "attend": attend_call,
    "cross_entropy": cross_entropy_call,
}

#: What may be wrong with a tensor.
DAMAGES = {
    "one row more": lambda tensor, dim: torch.cat([tensor, tensor.narrow(dim, 0, 1)], dim),
    "one row less": lambda tensor, dim: tensor.narrow(dim, 1, tensor.size(dim) - 1),
    "empty": lambda tensor, dim: tensor.narrow(dim, 0, 0),
    "one dimension more": lambda tensor, dim: tensor.unsqueeze(dim),
    "one dimension less": lambda tensor, dim: tensor.select(dim, 0),
    "no dimension": lambda tensor, _: tensor.flatten()[0],
    "strided": lambda tensor, dim: torch.stack([tensor, tensor], -1)[..., 0],
    "turned": lambda tensor, _: tensor.transpose(0, -1),
    "double": lambda tensor, _: tensor.double(),
    "half": lambda tensor, _: tensor.half(),
    "bfloat16": lambda tensor, _: tensor.bfloat16(),
    "long": lambda tensor, _: tensor.long(),
    "bool": lambda tensor, _: tensor.bool(),
    "complex": lambda tensor, _: tensor.to(torch.complex64),
    "not a number": lambda tensor, _: tensor.clone().fill_(torch.nan if tensor.is_floating_point() else 1),
    "infinite": lambda tensor, _: tensor.clone().fill_(torch.inf if tensor.is_floating_point() else 0),
    "huge": lambda tensor, _: tensor.clone().fill_(2**62 if tensor.dtype == torch.long else 1),
    "missing": lambda *_: None,
}

numbers = st.lists(st.integers(-2, 6), max_size=4)
others = st.one_of(st.floats(), st.integers(-3, 3), st.booleans(), numbers, st.none())


def damaged(draw, argument):
    """The argument, or something else in its place."""
    if isinstance(argument, list) and argument and not isinstance(argument[0], int):
        place = draw(st.integers(0, len(argument) - 1))
        return [*argument[:place], damaged(draw, argument[place]), *argument[place + 1 :]]
    if not isinstance(argument, torch.Tensor):
        return draw(others)
    if not argument.dim():
        return argument.double()
    return DAMAGES[draw(st.sampled_from(sorted(DAMAGES)))](argument, draw(st.integers(0, argument.dim() - 1)))


@st.composite
def damaged_calls(draw):
    name = draw(st.sampled_from(sorted(CALLS)))
    arguments = CALLS[name]()
    for place in draw(st.lists(st.integers(0, len(arguments) - 1), min_size=1, max_size=3, unique=True)):
        arguments[place] = damaged(draw, arguments[place])
    return name, arguments


@needs_native
@settings(max_examples=EXAMPLES, deadline=None)
@given(damaged_calls())
def test_an_argument_that_does_not_fit_is_named(call):
    name, arguments = call
    operation = getattr(torch.ops.recurrent_mt, name)
    names = [argument.name for argument in operation.default._schema.arguments]
    try:
        operation(*arguments)
    except (ValueError, RuntimeError) as error:
        assert any(one in str(error) for one in [*names, "_weight"]), str(error)


@needs_native
@pytest.mark.parametrize("name", CALLS)
def test_the_calls_that_are_damaged_are_right(name):
    getattr(torch.ops.recurrent_mt, name)(*CALLS[name]())
