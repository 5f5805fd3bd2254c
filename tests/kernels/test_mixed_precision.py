"""The kernels under torch.autocast: products in its format, all else in the weights' own."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from recurrent_mt.kernels.attention import AttentiveGRUWeights, Memory, attend
from recurrent_mt.kernels.attentive_gru import attentive_gru
from recurrent_mt.kernels.dilated_grconv import DilatedGRConvWeights, dilated_grconv
from recurrent_mt.kernels.grconv import GRConvWeights, grconv
from recurrent_mt.kernels.gru import gru
from recurrent_mt.kernels.matrix import Matrix
from tests.kernels.batches import every_backend, packing_of, random, within

LENGTHS, SIZE, RANK = [7, 1, 5], 6, 2
PACKING = packing_of(LENGTHS)
ROWS = sum(LENGTHS)

#: torch's products of two matrices. Attention's are of vectors, alone or in batches, and stay as they are.
PRODUCTS = {torch.ops.aten.mm.default, torch.ops.aten.addmm.default, torch.ops.aten.addmm_.default}


class Formats(TorchDispatchMode):
    """Notes the number formats that products are made in."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        if function in PRODUCTS and all(min(matrix.shape) > 1 for matrix in arguments[-2:]):
            self.seen |= {argument.dtype for argument in arguments}
        return function(*arguments, **(options or {}))


def whole(rows, columns, seed):
    return random(rows, columns, seed=seed) / columns**0.5


def run_gru(backend, factors):
    inputs, initial, gate, candidate = factors[0], factors[1], factors[2], factors[3]
    return (within(backend, gru)(inputs, initial, gate, candidate, batch_sizes=PACKING.batch_sizes),)


def run_low_rank_gru(backend, factors):
    inputs, initial, *matrices = factors
    gate, candidate = Matrix(*matrices[:2]), Matrix(*matrices[2:])
    return (within(backend, gru)(inputs, initial, gate, candidate, batch_sizes=PACKING.batch_sizes),)


def run_attentive_gru(backend, factors):
    inputs, initial, keys, values, gate, candidate, context, *attention = factors
    query, score = attention or (None, None)
    mask = torch.zeros(len(LENGTHS), keys.size(1), dtype=torch.bool)
    memory, weights = Memory(keys, values, mask), AttentiveGRUWeights(gate, candidate, context, query, score)
    states, contexts, _ = within(backend, attentive_gru)(
        inputs, initial, memory, weights, batch_sizes=PACKING.batch_sizes
    )
    with torch.no_grad():
        read = within(backend, attend)(initial, memory, weights)
    return states, contexts, *read


def run_grconv(backend, factors):
    leaves, *weights = factors
    output = within(backend, grconv)(
        leaves, GRConvWeights(*weights), batch_sizes=PACKING.batch_sizes, annotation_height=2
    )
    return output.summaries, output.nodes


def run_dilated_grconv(backend, factors):
    """With two sets of weights, of which levels two and three share the second."""
    leaves, *weights = factors
    sets = DilatedGRConvWeights(*(torch.stack([one, one / 2]) for one in weights))
    return within(backend, dilated_grconv)(leaves, sets, batch_sizes=PACKING.batch_sizes)[:3]


GRU_INPUTS = [random(ROWS, 3 * SIZE), random(len(LENGTHS), SIZE)]
GRU = [whole(2 * SIZE, SIZE, 1), whole(SIZE, SIZE, 2)]
FACTORS = [whole(2 * SIZE, RANK, 1), whole(RANK, SIZE, 2), whole(SIZE, RANK, 3), whole(RANK, SIZE, 4)]
DOT = [*GRU_INPUTS, random(len(LENGTHS), 4, SIZE), random(len(LENGTHS), 4, 5), *GRU, whole(3 * SIZE, 5, 3)]
GRCONV = [random(ROWS, SIZE), whole(SIZE, SIZE, 1), whole(SIZE, SIZE, 2), random(SIZE)]
GATES = [whole(3, SIZE, 3), whole(3, SIZE, 4), random(3)]

CASES = {
    "gru": (run_gru, [*GRU_INPUTS, *GRU]),
    "low_rank_gru": (run_low_rank_gru, [*GRU_INPUTS, *FACTORS]),
    "dot": (run_attentive_gru, DOT),
    "additive": (run_attentive_gru, [*DOT, whole(SIZE, SIZE, 6), random(SIZE, seed=7)]),
    "grconv": (run_grconv, [*GRCONV, *GATES]),
    "dilated_grconv": (run_dilated_grconv, [*GRCONV, *GATES]),
}
every_case = pytest.mark.parametrize(("run", "arguments"), CASES.values(), ids=CASES)


def outputs_and_gradients(run, arguments, backend, *, autocast=False, narrow=0):
    """And the formats of all products; the first ``narrow`` arguments come in bfloat16, as from autocast's layers."""
    leaves = [argument.clone().requires_grad_() for argument in arguments]
    given = [leaf.bfloat16() if index < narrow else leaf for index, leaf in enumerate(leaves)]
    with Formats() as formats:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            outputs = [output for output in run(backend, given) if output.numel()]
        loss = sum((output * random(*output.shape, seed=5)).sum() for output in outputs if output.requires_grad)
        gradients = torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)
    return outputs, gradients, formats.seen


every_fast_backend = every_backend(["packed", "fused"])


@every_case
@every_fast_backend
def test_only_products_are_narrow(backend, run, arguments):
    outputs, gradients, formats = outputs_and_gradients(run, arguments, backend, autocast=True, narrow=1)
    assert formats == {torch.bfloat16}
    assert all(tensor.dtype is torch.float32 for tensor in [*outputs, *gradients])


@every_case
@every_backend(["packed", "native", "fused"])
def test_outputs_equal_the_references_up_to_rounding(backend, run, arguments):
    outputs, gradients, _ = outputs_and_gradients(run, arguments, backend, autocast=True)
    expected, expected_gradients, formats = outputs_and_gradients(run, arguments, "reference", autocast=True)
    assert formats == {torch.float32}
    for found, true in zip([*outputs, *gradients], [*expected, *expected_gradients], strict=True):
        # bfloat16 has eight bits, and a recurrence goes over what was rounded before.
        assert (found - true).norm() <= 0.02 * true.norm()
        assert not torch.equal(found, true) or not true.any()


@every_case
def test_without_autocast_nothing_is_narrow(run, arguments):
    assert outputs_and_gradients(run, arguments, "packed")[2] == {torch.float32}
