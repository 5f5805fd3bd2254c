"""The pyramid's Triton kernels against its reference, in Triton's interpreter: TRITON_INTERPRET=1."""

import pytest
import torch

from recurrent_mt.kernels import packing
from recurrent_mt.kernels.grconv import GRConvWeights, grconv
from recurrent_mt.kernels.grconv_level import LevelWeights, PyramidLayout
from tests.kernels.batches import RAGGED, assert_same_outputs_and_gradients, needs_interpreter, within
from tests.kernels.test_grconv import MODES, arguments, run

SHORT = [7, 1, 9, 0, 2]


@needs_interpreter
@pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)
def test_fused_grconv_agrees_with_the_reference(lengths):
    counts, tensors = arguments(lengths, 5, torch.float64)
    assert_same_outputs_and_gradients(run(counts), tensors, ["reference", "fused"])


@needs_interpreter
@pytest.mark.parametrize("mode", MODES)
def test_fused_grconv_agrees_in_every_mode(mode):
    counts, tensors = arguments(SHORT, 5, torch.float64)
    assert_same_outputs_and_gradients(run(counts, "relu", **MODES[mode]), tensors, ["reference", "fused"])


@needs_interpreter
@pytest.mark.parametrize("size", [1, 3, 16, 2100])
def test_fused_grconv_agrees_at_widths_of_every_kind(size):
    """One unit, as many as gates, a power of two, and more than a block holds."""
    counts, tensors = arguments([3, 2], size, torch.float64)
    assert_same_outputs_and_gradients(run(counts), tensors, ["reference", "fused"])


@needs_interpreter
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_fused_grconv_in_half_precision_rounds_only_what_it_stores(dtype):
    """One level of copies: what is computed in float32 must be off by the rounding of its result, and no more."""
    counts, tensors = arguments([2, 2, 2], 300, torch.float64)
    tensors = [tensor.to(dtype) for tensor in tensors]
    for index in (1, 2, 4, 5):
        tensors[index].zero_()  # products of zeros are exact, whatever a processor does with half precision
    results = {}
    for backend, made in (("reference", torch.float64), ("fused", dtype)):
        leaves, *weights = (tensor.to(made).requires_grad_() for tensor in tensors)
        roots = within(backend, grconv)(leaves, GRConvWeights(*weights), batch_sizes=counts).summaries
        loss = (roots * torch.arange(900, dtype=made).view(3, 300) / 900).sum()
        results[backend] = (roots, *torch.autograd.grad(loss, [leaves, weights[2], weights[5]]))
    half = torch.finfo(dtype).eps
    for result, expected in zip(results["fused"], results["reference"]):
        torch.testing.assert_close(
            result.double(), expected, rtol=2 * half, atol=2 * half * expected.abs().max().item()
        )


@needs_interpreter
def test_fused_grconv_reaches_offsets_beyond_two_to_the_31():
    """Two nodes whose children stand at the end of 2³¹ products; the pages between are never touched."""
    from recurrent_mt.kernels.triton_level import FusedLevel

    rows = (1 << 28) + 2
    try:
        below, products = torch.empty(rows, 1, dtype=torch.float16), torch.empty(rows, 8, dtype=torch.float16)
    except RuntimeError:
        pytest.skip("there is no address space for 5 GB")
    weights = LevelWeights(torch.zeros(2, 4, 1, dtype=torch.float16), torch.zeros(4, dtype=torch.float16))
    below[-2:], products[-2:] = torch.tensor([[3.0], [6.0]]), 0.0
    level = FusedLevel(PyramidLayout([1, 1], torch.device("cpu")), 1, below[-2:])
    level.below, level.left_leaves, level.first = below, torch.tensor([rows - 2]), rows - 1
    candidate, gates = below.new_empty(1, 1), below.new_empty(1, 3)
    node = level._launch(products, weights.bias, candidate, gates, again=False)
    torch.testing.assert_close(node.double(), torch.tensor([[3.0]], dtype=torch.float64), rtol=1e-3, atol=0)


def test_every_node_but_the_last_is_a_left_child():
    counts = packing.make_packing(torch.arange(5) >= torch.tensor([[5], [2], [0], [4], [1]])).batch_sizes
    pyramid = PyramidLayout(counts, torch.device("cpu"))
    for level in range(1, 5):
        parents, before = pyramid.parents(level)
        of_left = parents[parents >= 0] - before
        assert parents.numel() == pyramid.size(level - 1)
        assert of_left.tolist() == list(range(pyramid.size(level)))
        assert (parents >= 0).nonzero().flatten().tolist() == pyramid.left(level).tolist()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("size", [5, 1000])
def test_fused_grconv_agrees_on_a_gpu(size):
    counts, tensors = arguments([7, 1, 63, 2], size, torch.float64)
    assert_same_outputs_and_gradients(run(counts), [tensor.cuda() for tensor in tensors], ["packed", "fused"])
