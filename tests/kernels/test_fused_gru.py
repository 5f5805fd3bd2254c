"""The Triton kernels of the GRU recurrences against the references, in Triton's interpreter: TRITON_INTERPRET=1."""

import pytest
import torch

from recurrent_mt.kernels.attention import AttentiveGRUWeights, Memory, attend
from tests.kernels import test_attentive_gru
from tests.kernels.batches import RAGGED, assert_same_outputs_and_gradients, needs_interpreter, random, within
from tests.kernels.test_gru_parts import arguments
from tests.tolerances import PARITY

every_recurrence = pytest.mark.parametrize("recurrence", ["gru", "additive", "dot"])


@needs_interpreter
@every_recurrence
@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
def test_fused_recurrences_agree_with_the_reference(lengths, recurrence):
    function, tensors = arguments(recurrence, lengths, product=False, dtype=torch.float64)
    assert_same_outputs_and_gradients(function, tensors, ["reference", "fused"])


@needs_interpreter
@every_recurrence
@pytest.mark.parametrize("size", [1, 16, 300])
def test_fused_recurrences_agree_at_widths_of_every_kind_and_on_products(recurrence, size):
    function, tensors = arguments(recurrence, [4, 1, 2], product=True, size=size, dtype=torch.float64)
    assert_same_outputs_and_gradients(function, tensors, ["reference", "fused"])


@needs_interpreter
@pytest.mark.parametrize("positions", [1, 33, 200])
def test_fused_attention_agrees_over_sources_of_every_length(positions):
    """More keys and values than a block holds of them, on padding as well."""
    mask = torch.arange(positions) >= torch.tensor([[positions], [(positions + 1) // 2]])
    shapes = [(3, 15), (2, 5), (2, positions, 70), (2, positions, 90), (10, 5), (5, 5), (15, 90), (70, 5), (70,)]
    tensors = [random(*shape, seed=i, dtype=torch.float64) / 4 for i, shape in enumerate(shapes)]
    function = test_attentive_gru.run((2, 1), mask)
    assert_same_outputs_and_gradients(function, tensors, ["reference", "fused"])


@needs_interpreter
@pytest.mark.parametrize("beam", [1, 3])
def test_hypotheses_side_by_side_read_their_source(beam):
    memory = Memory(random(4, 5, 7), random(4, 5, 9, seed=1), test_attentive_gru.padding_mask(4))
    weights = AttentiveGRUWeights(None, None, None, random(7, 6, seed=2), random(7, seed=3))
    states = random(4 * beam, 6, seed=4)
    expected = within("reference", attend)(states, memory, weights)
    torch.testing.assert_close(within("fused", attend)(states, memory, weights), expected, **PARITY[torch.float32])


@needs_interpreter
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_fused_recurrences_in_half_precision_round_only_what_they_store(dtype):
    """Outputs are off by a rounding or two; gradients, which cancel, are hardly further off than where all is rounded.

    Hardly, because the interpreter truncates to bfloat16, which errs by twice as much as a GPU's rounding.
    """
    mask = torch.zeros(1, 100, dtype=torch.bool)
    shapes = [(1, 15), (1, 5), (1, 100, 70), (1, 100, 90), (10, 5), (5, 5), (15, 90), (70, 5), (70,)]
    tensors = [random(*shape, seed=i, dtype=dtype) / 8 for i, shape in enumerate(shapes)]
    results, gradients = {}, {}
    for backend, made in (("reference", torch.float64), ("packed", dtype), ("fused", dtype)):
        leaves = [tensor.to(made).requires_grad_() for tensor in tensors]
        results[backend] = test_attentive_gru.run((1,), mask)(backend, *leaves)
        gradients[backend] = torch.autograd.grad(sum(output.sum() for output in results[backend][:2]), leaves)
    half = torch.finfo(dtype).eps
    for result, expected in zip(results["fused"], results["reference"]):
        torch.testing.assert_close(
            result.double(), expected, rtol=2 * half, atol=2 * half * expected.abs().max().item()
        )
    for exact, packed, fused in zip(*gradients.values()):
        assert (fused - exact).norm() <= 2 * (packed - exact).norm() + half * exact.norm()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@every_recurrence
@pytest.mark.parametrize("size", [5, 1000])
def test_fused_recurrences_agree_on_a_gpu(recurrence, size):
    function, tensors = arguments(recurrence, [7, 1, 63, 2], product=False, size=size, dtype=torch.float64)
    leaves = [tensor.cuda() for tensor in tensors]
    assert_same_outputs_and_gradients(function, leaves, ["packed", "fused"])
