"""Recurrences in CUDA graphs: the rectangle around a batch on any machine, the graphs on a GPU."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from recurrent_mt.kernels import attentive_gru, graphs, gru
from tests.kernels.batches import RAGGED, assert_same_outputs_and_gradients, packing_of, random
from tests.kernels.test_gru_parts import arguments, every_recurrence

every_part = pytest.mark.parametrize("product", [False, True])
every_batch = pytest.mark.parametrize("lengths", RAGGED.values(), ids=RAGGED)


def test_numbers_are_rounded_to_few_different_ones():
    assert [graphs.rounded(number, least=4) for number in (1, 4, 5, 31, 33, 63, 65)] == [4, 4, 8, 32, 36, 64, 72]
    numbers = {number: graphs.rounded(number, least=4) for number in range(1, 5000)}
    assert all(number <= rounded < number + max(4, number / 7) for number, rounded in numbers.items())
    assert len(set(numbers.values())) < 80


@every_batch
def test_a_rectangle_has_each_packed_row_at_its_position_and_sentence(lengths):
    counts = packing_of(lengths).batch_sizes
    around = graphs.rectangle(counts, len(lengths), torch.device("cpu"))
    rows = torch.arange(1.0, sum(lengths) + 1)[:, None].requires_grad_()
    spread = around.spread(rows)
    by_position = spread.detach().view(around.positions, around.sentences)
    assert sum(around.batch_sizes) == spread.size(0)
    for position, part in enumerate(rows.detach().squeeze(1).split(list(counts))):
        torch.testing.assert_close(by_position[position, : len(part)], part)
        assert not by_position[position, len(part) :].any()
    assert not by_position[len(counts) :].any()
    torch.testing.assert_close(around.gather(spread), rows)
    weights = random(*spread.shape)
    (gradient,) = torch.autograd.grad((spread * weights).sum(), rows)
    torch.testing.assert_close(gradient, around.gather(weights))


class Recording(TorchDispatchMode):
    """Stands in for a CUDA graph on a CPU: the same operations once more, on the same memory."""

    def capture_begin(self, **options):
        self.operations = []
        self.__enter__()

    def capture_end(self):
        self.__exit__(None, None, None)

    def __torch_dispatch__(self, function, types, given=(), options=None):
        made = function(*given, **(options or {}))
        self.operations.append((function, given, options or {}, made))
        return made

    @torch.inference_mode()
    def replay(self):
        for function, given, options, made in self.operations:
            again = function(*given, **options)
            for old, new in zip(tree_leaves(made), tree_leaves(again)):
                if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                    old.view(new.shape).copy_(new)  # PyTorch squeezes a product in place


@pytest.fixture
def recorder(monkeypatch):
    """Graphs on a CPU, as an implementation ``recorded``."""
    stream = SimpleNamespace(device=torch.device("cpu"), cuda_stream=0, wait_stream=lambda other: None)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: stream)
    monkeypatch.setattr(torch.cuda, "Stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: nullcontext())
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 0))
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Recording)
    made = graphs._Recorder()
    monkeypatch.setattr(graphs, "_recorder", lambda device, stream: made)
    monkeypatch.setitem(gru.GRU.implementations, "recorded", gru.recorded_gru)
    monkeypatch.setitem(attentive_gru.ATTENTIVE_GRU.implementations, "recorded", attentive_gru.recorded_attentive_gru)
    return made


@every_batch
@every_recurrence
@every_part
def test_a_recurrence_in_a_rectangle_agrees_with_the_reference(lengths, recurrence, product, recorder):
    function, tensors = arguments(recurrence, lengths, product=product, dtype=torch.float64)
    assert_same_outputs_and_gradients(function, tensors, ["reference", "recorded"])


@every_recurrence
@every_part
def test_what_is_replayed_agrees_with_the_reference(recurrence, product, recorder):
    """The first call runs directly, the second is recorded; the batches have one rectangle, and different numbers."""
    for number, lengths in enumerate([[7, 1, 30, 2], [29, 30, 5], [3, 30, 0, 9], [30, 30, 30, 30]]):
        function, tensors = arguments(recurrence, lengths, product=product, dtype=torch.float64)
        tensors = [tensor + number / 100 for tensor in tensors]
        assert_same_outputs_and_gradients(function, tensors, ["reference", "recorded"])
    assert [isinstance(graph, graphs._Graph) for graph in recorder._graphs.values()] == [True, True]


def test_threads_do_not_mix_their_numbers(recorder):
    function, tensors = arguments("gru", [5] * 3, product=False, dtype=torch.float64)
    given = [[tensor + number for tensor in tensors] for number in (0.0, 0.5)]
    expected = [function("reference", *one) for one in given]
    for one in given:
        function("recorded", *one)  # the first call of a shape runs directly, the second is recorded

    def repeat(number):
        return [function("recorded", *given[number]) for _ in range(20)]

    with ThreadPoolExecutor(2) as threads:
        for want, found in zip(expected, threads.map(repeat, range(2))):
            for one in found:
                torch.testing.assert_close(one, want)


def test_graphs_share_their_memory(recorder):
    for lengths in ([5] * 3, [30] * 3, [12] * 3):
        function, tensors = arguments("additive", lengths, product=False, dtype=torch.float64)
        for number in range(3):
            tensors = [tensor + number / 100 for tensor in tensors]
            assert_same_outputs_and_gradients(function, tensors, ["reference", "recorded"])
    addresses = [graph.inputs[0].data_ptr() for graph in recorder._graphs.values()]
    assert len(addresses) == 6 and len(set(addresses[3:])) == 1, "what is no larger than the largest needs no more"


def test_a_graph_recorded_in_inference_mode_serves_training(recorder):
    check_inference_mode("recorded", lambda tensor: tensor)


def check_inference_mode(backend, move):
    function, tensors = arguments("additive", [9, 5], product=False, dtype=torch.float64)
    leaves = [move(tensor) for tensor in tensors]
    with torch.inference_mode():
        for _ in range(3):
            function(backend, *leaves)
    for _ in range(3):
        assert_same_outputs_and_gradients(function, leaves, ["reference", backend])


def test_only_the_graphs_used_last_are_kept(recorder, monkeypatch):
    monkeypatch.setattr(graphs, "MOST", 3)
    for positions in (4, 8, 12, 16, 20, 4, 4, 4):
        function, tensors = arguments("gru", [positions], product=False)
        torch.testing.assert_close(function("recorded", *tensors), function("packed", *tensors))
    assert [isinstance(graph, graphs._Graph) for graph in recorder._graphs.values()] == [False, False, True]


def gpu(test):
    return pytest.mark.gpu(pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")(test))


@gpu
@every_recurrence
@pytest.mark.parametrize("size", [5, 1000])
@every_part
def test_a_graph_agrees_with_the_reference_each_time_it_is_replayed(recurrence, size, product):
    """The first call runs no graph, the second records it; the batches have one rectangle, and different numbers."""
    graphs._recorder.cache_clear()
    for number, lengths in enumerate([[7, 1, 30, 2], [29, 30, 5], [3, 30, 0, 9], [30, 30, 30, 30]]):
        function, tensors = arguments(recurrence, lengths, product=product, size=size, dtype=torch.float64)
        leaves = [(tensor + number / 100).cuda() for tensor in tensors]
        assert_same_outputs_and_gradients(function, leaves, ["reference", "fused"])
    recorder = graphs._recorder(torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream)
    assert sum(isinstance(graph, graphs._Graph) for graph in recorder._graphs.values()) >= 2


@gpu
@every_recurrence
@pytest.mark.parametrize("number", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("autocast", [False, True])
def test_in_half_precision_a_graph_is_as_exact_as_packed(recurrence, number, autocast):
    made = torch.float32 if autocast else number
    function, tensors = arguments(recurrence, [25, 1, 30, 2], product=False, size=64, dtype=made)
    exact = results(function, [tensor.double() for tensor in tensors], "reference")
    chosen = number if autocast else None
    packed = results(function, tensors, "packed", chosen)
    for _ in range(3):
        for theirs, ours, true in zip(packed, results(function, tensors, "fused", chosen), exact):
            rounding = torch.finfo(number).eps * true.norm()
            assert (ours - true).norm() <= 2 * (theirs - true).norm() + rounding


def results(function, tensors, backend, number=None):
    """Outputs and gradients; with a number, the outputs under autocast."""
    leaves = [tensor.cuda().requires_grad_() for tensor in tensors]
    with torch.autocast("cuda", dtype=number, enabled=number is not None):
        outputs = [output for output in function(backend, *leaves) if output.requires_grad]
    weights = [random(*output.shape, seed=5).to(output) for output in outputs]
    loss = sum((output * weight).sum() for output, weight in zip(outputs, weights))
    return [tensor.detach().double() for tensor in (*outputs, *torch.autograd.grad(loss, leaves))]


@gpu
def test_a_graph_on_a_gpu_recorded_in_inference_mode_serves_training():
    graphs._recorder.cache_clear()
    check_inference_mode("fused", torch.Tensor.cuda)
