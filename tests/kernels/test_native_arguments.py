"""What does not fit, passed to the native operations: an error that names it, and never a crash.

``HYPOTHESIS_MAX_EXAMPLES=10000`` in the environment makes many more cases.
"""

import math
import os
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from recurrent_mt.kernels.gru import gru
from recurrent_mt.kernels.min_gru import min_gru
from tests.kernels import test_attentive_gru, test_dilated_grconv, test_grconv, test_gru, test_min_gru
from tests.kernels.batches import needs_native, random, within

EXAMPLES = int(os.environ.get("HYPOTHESIS_MAX_EXAMPLES", "100"))


class Recorder(TorchDispatchMode):
    """The arguments of the last call of each native operation."""

    def __init__(self):
        super().__init__()
        self.calls = {}

    def __torch_dispatch__(self, operation, types, arguments=(), options=None):
        if operation.namespace == "recurrent_mt":
            self.calls[operation._opname] = list(arguments)
        return operation(*arguments, **(options or {}))


def differentiate(function, tensors):
    """Calls a native kernel and differentiates its first output."""
    output = function("native", *(tensor.requires_grad_() for tensor in tensors))
    output[0].sum().backward()


def recorded_calls():
    """What kernels, forward and backward, call their operations with."""
    with Recorder() as recorder:
        counts, tensors = test_gru.arguments([3, 2], 4)
        differentiate(lambda backend, *a: [within(backend, gru)(*a, batch_sizes=counts)], tensors)
        counts, tensors = test_min_gru.arguments([3, 2], 4)
        differentiate(lambda backend, *a: [within(backend, min_gru)(*a, batch_sizes=counts)], tensors)
        counts, mask, tensors = test_attentive_gru.arguments([3, 1, 2], 5, additive=True)
        differentiate(test_attentive_gru.run(counts, mask), tensors)
        counts, tensors = test_grconv.arguments([4, 3, 1], 4)
        differentiate(test_grconv.run(counts), tensors)
        counts, tensors = test_dilated_grconv.arguments([6, 3, 1], 4, sets=2)
        differentiate(test_dilated_grconv.run(counts), tensors)
    return recorder.calls


def attend_call():
    _, mask, (_, initial, keys, values, *_, query, score) = test_attentive_gru.arguments([3, 1, 2], 5, additive=True)
    return [initial, keys, values, mask, query, score, torch.float32]


def cross_entropy_call():
    target = torch.tensor([0, 0, 6, 6, 2, 2])
    return [random(6, 4), random(7, 4), random(7), target, 0.1, torch.float32, True, True, True]


def linear_call():
    return [random(6, 4), random(5, 4), random(5), torch.float32]


def linear_backward_call():
    rows, weight, _, products = linear_call()
    return [random(6, 5), rows, weight, products, True, True, True]


def dropout_call():
    return [random(5, 4), 0.5, 3]


def beam_search_call(*, additive=True, keys=5, min_gru=False):
    """Two sources of three words, seven words, states of four units."""
    size, words, embedding, outputs = 4, 7, 3, 2
    entering, states = (2, 2) if min_gru else (3, 1)
    shapes = [(embedding, entering * size + 2 * outputs), (size, 2 * outputs), (outputs, words)]
    shapes += [(size, keys)] if additive else []
    shapes += [] if min_gru else [(size, 2 * size), (size, size)]
    factors = [torch.ops.recurrent_mt.right_factor(random(*shape)) for shape in shapes]
    width = shapes[0][1]
    weights = [factors, [columns for _, columns in shapes], random(words, embedding), random(words), random(width)]
    norms = [random(size) for _ in range(4)] if min_gru else []
    source = [random(2, states * size), random(2, 3, keys), random(2, 3, width), torch.zeros(2, 3, dtype=torch.bool)]
    search = [
        random(keys) if additive else None,
        torch.ones(2, words, dtype=torch.bool),
        True,
        3,
        6,
        1,
        0.0,
        1.0,
        2,
        2,
        1,
        3,
    ]
    return [*weights, min_gru, True, not min_gru, norms, 1e-5, *source, *search]


OPERATIONS = (
    "attend",
    "attentive_gru",
    "attentive_gru_backward",
    "beam_search",
    "cross_entropy",
    "dilated_grconv",
    "dilated_grconv_backward",
    "dropout",
    "grconv_level",
    "grconv_level_backward",
    "grconv_merge",
    "gru",
    "gru_backward",
    "linear",
    "linear_backward",
    "min_gru",
    "min_gru_backward",
    "right_factor",
)


@cache
def calls():
    """What each native operation is called with, by its name."""
    found = recorded_calls()
    candidates, gates, _ = torch.ops.recurrent_mt.grconv_level(*found["grconv_level"])
    found["grconv_merge"] = [*found["grconv_level"][:3], candidates, gates]
    made = {"attend": attend_call(), "cross_entropy": cross_entropy_call(), "beam_search": beam_search_call()}
    made |= {"dropout": dropout_call(), "linear": linear_call(), "linear_backward": linear_backward_call()}
    return {**found, **made}


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
formats = st.sampled_from([torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool])
others = st.one_of(st.floats(), st.integers(-3, 3), st.booleans(), numbers, st.none())


def damaged(draw, argument):
    """The argument, or something else in its place."""
    if isinstance(argument, list) and argument and not isinstance(argument[0], int):
        place = draw(st.integers(0, len(argument) - 1))
        return [*argument[:place], damaged(draw, argument[place]), *argument[place + 1 :]]
    if isinstance(argument, torch.dtype):
        return draw(formats)
    if not isinstance(argument, torch.Tensor):
        return draw(others)
    if not argument.dim():
        return argument.double()
    return DAMAGES[draw(st.sampled_from(sorted(DAMAGES)))](argument, draw(st.integers(0, argument.dim() - 1)))


def copied(argument):
    """An operation may write into it."""
    return argument.clone() if isinstance(argument, torch.Tensor) else argument


@st.composite
def damaged_calls(draw):
    name = draw(st.sampled_from(OPERATIONS))
    arguments = [copied(argument) for argument in calls()[name]]
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
        with torch.no_grad():
            operation(*arguments)
    except (ValueError, RuntimeError) as error:
        # Of an operation whose only tensor is missing, PyTorch names the operation.
        assert any(one in str(error) for one in [*names, "_weight", f"recurrent_mt::{name}"]), str(error)


@needs_native
def test_the_calls_that_are_damaged_are_those_of_every_operation_and_right():
    assert set(OPERATIONS) == set(calls())
    with torch.no_grad():
        for name, arguments in calls().items():
            getattr(torch.ops.recurrent_mt, name)(*map(copied, arguments))


@needs_native
@pytest.mark.parametrize("epsilon", [0.0, -1e-5, math.nan])
def test_the_epsilon_of_the_searchs_layer_norm_is_positive(epsilon):
    call = calls()["beam_search"]
    with pytest.raises(ValueError, match="norm_epsilon must be positive"):
        torch.ops.recurrent_mt.beam_search(*call[:9], epsilon, *call[10:])


@needs_native
@pytest.mark.parametrize("keys", [3, 5])
def test_keys_without_a_query_are_as_wide_as_the_searchs_states(keys):
    with torch.no_grad():
        torch.ops.recurrent_mt.beam_search(*beam_search_call(additive=False, keys=4))
        with pytest.raises(ValueError, match=f"keys must be as wide as the states they meet, 4, not {keys}"):
            torch.ops.recurrent_mt.beam_search(*beam_search_call(additive=False, keys=keys))


@needs_native
def test_norms_of_minimal_grus_are_two_gains_and_two_shifts():
    call = beam_search_call(min_gru=True)
    with torch.no_grad():
        torch.ops.recurrent_mt.beam_search(*call)
        with pytest.raises(ValueError, match="norms must be gain and shift of both minimal GRUs, not 3 tensors"):
            torch.ops.recurrent_mt.beam_search(*call[:8], call[8][:3], *call[9:])


@needs_native
@pytest.mark.parametrize("beam", [0, 7, 8])
def test_the_beam_is_narrower_than_the_vocabulary(beam):
    *before, _, longest, shortest, penalty, temperature, begin, end, padding, unknown = beam_search_call()
    rest = [longest, shortest, penalty, temperature, begin, end, padding, unknown]
    with torch.no_grad():
        torch.ops.recurrent_mt.beam_search(*before, 6, *rest)
        with pytest.raises(ValueError, match=f"beam must be from 1 to one less than the vocabulary, 7, not {beam}"):
            torch.ops.recurrent_mt.beam_search(*before, beam, *rest)


@needs_native
@pytest.mark.parametrize("rank", [-1, 2**62])
def test_the_rank_of_the_searchs_output_fits_its_factor(rank):
    factors, columns, *rest = beam_search_call()
    with torch.no_grad(), pytest.raises(ValueError, match="columns must fit the factor at 2, not be"):
        torch.ops.recurrent_mt.beam_search([*factors, factors[-1]], [*columns[:2], rank, *columns[2:]], *rest)


#: What says in which format each operation multiplies.
FORMATS = {
    "attend": "products",
    "attentive_gru": "products",
    "beam_search": "factors",
    "cross_entropy": "products",
    "dilated_grconv": "products",
    "grconv_level": "left_factor",
    "gru": "products",
    "linear": "products",
}


def converted(argument, number):
    """An argument with its numbers, if it has any, in another format."""
    if isinstance(argument, list):
        return [converted(one, number) for one in argument]
    if isinstance(argument, torch.dtype):
        return number
    return argument.to(number) if isinstance(argument, torch.Tensor) and argument.is_floating_point() else argument


@needs_native
@pytest.mark.parametrize("name", FORMATS)
def test_double_precision_is_not_multiplied_in_bfloat16(name):
    operation = getattr(torch.ops.recurrent_mt, name)
    names = [argument.name for argument in operation.default._schema.arguments]
    formats = [torch.bfloat16 if one == FORMATS[name] else torch.double for one in names]
    arguments = [*map(converted, calls()[name], formats)]
    with torch.no_grad(), pytest.raises(ValueError, match="must be Double, not BFloat16"):
        operation(*arguments)
