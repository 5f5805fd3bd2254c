"""Recurrences recorded as CUDA graphs: hundreds of small launches, which take the CPU longer than the GPU, become one.

A graph repeats the same launches at the same addresses. So there is one for each shape of a batch, which is rounded up
to have few shapes (:class:`Rectangle`), and it reads from and writes to memory that all graphs share.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

Tensors = tuple[Tensor | None, ...]
"""What a function of a recurrence takes or returns."""

Run = Callable[..., Any]
"""What calls such a function: :func:`directly` or :func:`replayed`."""

MOST = 1024
"""How many graphs a process keeps, those used last."""

FEWEST_POSITIONS = 4
"""Shorter recurrences are not worth a graph."""

ALIGNMENT = 256
"""Bytes, as of memory that PyTorch allocates: compiled kernels count on it."""


def directly(function: Callable[..., Tensors], tensors: Tensors, *constants: Hashable) -> Tensors:
    """Returns what ``function(*tensors, *constants)`` returns."""
    return function(*tensors, *constants)


def replayed(function: Callable[..., Tensors], tensors: Tensors, *constants: Hashable) -> Tensors:
    """The same by a graph, from the second call with tensors of these shapes and with these constants on.

    Args:
        function: of a module; what it returns must depend on nothing but its arguments, and it must not wait for the
            GPU.
        tensors: on one GPU, or None.
        constants: what else the function takes.
    """
    device = next(tensor.device for tensor in tensors if tensor is not None)
    return _recorder(device.index, torch.cuda.current_stream(device).cuda_stream)(function, tensors, constants)


def is_worthwhile(like: Tensor, batch_sizes: Sequence[int]) -> bool:
    """Whether a recurrence over these batch_sizes on this tensor's device is to be :func:`replayed`."""
    long = len(batch_sizes) >= FEWEST_POSITIONS
    return long and like.device.type == "cuda" and not torch.cuda.is_current_stream_capturing()


class _Graph(NamedTuple):
    """A graph, and the memory that it reads and writes."""

    graph: Any
    inputs: list[Tensor]
    outputs: Tensors


class _Memory:
    """Memory of graphs that are never replayed at the same time, so that all may use it from the start."""

    def __init__(self) -> None:
        self._bytes = torch.empty(0, dtype=torch.uint8)

    def like(self, tensors: Tensors, device: torch.device) -> Tensors:
        """Tensors of these shapes and formats, one after the other. Earlier ones keep memory that was too small."""
        sizes = [0 if tensor is None else -(-tensor.nbytes // ALIGNMENT) * ALIGNMENT for tensor in tensors]
        # Neither a tensor nor a view that was made in inference mode could be written to outside it.
        with torch.inference_mode(False):
            if sum(sizes) > self._bytes.numel():
                self._bytes = torch.empty(max(sum(sizes), 2 * self._bytes.numel()), dtype=torch.uint8, device=device)
            parts = self._bytes[: sum(sizes)].split(sizes)
            return tuple(
                None if tensor is None else part[: tensor.nbytes].view(tensor.dtype).view(tensor.shape)
                for part, tensor in zip(parts, tensors)
            )


class _Recorder:
    """The graphs of one stream of a device, which replays one after the other."""

    def __init__(self) -> None:
        self._graphs: OrderedDict[Hashable, _Graph | Tensors] = OrderedDict()
        self._inputs, self._outputs = _Memory(), _Memory()
        self._lock = Lock()
        self._pool = torch.cuda.graph_pool_handle()
        self._stream = torch.cuda.Stream()

    @torch.no_grad()
    def __call__(self, function: Callable[..., Tensors], tensors: Tensors, constants: tuple[Hashable, ...]) -> Tensors:
        shapes = tuple(None if tensor is None else (tensor.shape, tensor.dtype) for tensor in tensors)
        key = function, constants, shapes, torch.get_float32_matmul_precision()
        # Threads share a stream, and all graphs of it their inputs and outputs.
        with self._lock:
            if key not in self._graphs:
                # Shapes that do not come back are not worth a recording, and Triton's kernels must have run before one.
                made = function(*tensors, *constants)
                self._graphs[key] = tuple(None if output is None else output.to("meta") for output in made)
                if len(self._graphs) > MOST:
                    self._graphs.popitem(last=False)
                return made
            graph = self._graphs[key]
            if not isinstance(graph, _Graph):
                graph = self._graphs[key] = self._record(function, tensors, constants, graph)
            self._graphs.move_to_end(key)
            torch._foreach_copy_(graph.inputs, _present(tensors))
            graph.graph.replay()
            return tuple(None if output is None else output.clone() for output in graph.outputs)

    def _record(
        self, function: Callable[..., Tensors], tensors: Tensors, constants: tuple[Hashable, ...], made: Tensors
    ) -> _Graph:
        """The graph of a call that returned tensors like ``made``."""
        arguments = self._inputs.like(tensors, self._stream.device)
        outputs = self._outputs.like(made, self._stream.device)
        graph = torch.cuda.CUDAGraph()
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            # Other threads may go on allocating memory.
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                for place, output in zip(_present(outputs), _present(function(*arguments, *constants)), strict=True):
                    place.copy_(output)
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(self._stream)
        return _Graph(graph, _present(arguments), outputs)


def _present(tensors: Iterable[Tensor | None]) -> list[Tensor]:
    return [tensor for tensor in tensors if tensor is not None]


@functools.cache
def _recorder(device: int, stream: int) -> _Recorder:
    with torch.cuda.device(device):
        return _Recorder()


class Rectangle(NamedTuple):
    """A packed batch with rows of zeros at the end of each sentence, so that all run to the last position.

    A recurrence goes on over these rows, which changes no other; their gradients are zero.
    """

    sentences: int  # B', a rounded number of sentences
    positions: int  # T', a rounded number of positions
    rows: Tensor  # (N,) for each packed row, its place in the rectangle, flattened to (T' * B', …)

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """What :class:`~recurrent_mt.kernels.packing.Packing` would have for it."""
        return (self.sentences,) * self.positions

    def spread(self, packed: Tensor) -> Tensor:
        """Packed rows in their places: (N, …) → (T' * B', …)."""
        return _spread(packed, self.rows, self.sentences * self.positions)

    def gather(self, spread: Tensor) -> Tensor:
        """The inverse of :meth:`spread`."""
        return _Gather.apply(spread, self.rows)

    def extend(self, sentences: Tensor) -> Tensor:
        """One row per sentence, (B, …), with zeros for the other sentences: (B', …)."""
        return F.pad(sentences, (0, 0) * (sentences.dim() - 1) + (0, self.sentences - sentences.size(0)))


@functools.lru_cache(maxsize=8)  # both directions of an encoder and all layers have the same
def rectangle(batch_sizes: tuple[int, ...], sentences: int, device: torch.device) -> Rectangle:
    """The rectangle around a packed batch of so many sentences."""
    columns, positions = rounded(sentences, least=8), rounded(len(batch_sizes), least=4)
    with torch.inference_mode(False):  # training may read it, too
        inside = torch.arange(columns) < torch.tensor(batch_sizes)[:, None]
        return Rectangle(columns, positions, inside.flatten().nonzero().squeeze(1).to(device))


def rounded(number: int, *, least: int) -> int:
    """The next multiple of ``least``, or of an eighth to a sixteenth of a large number, to have few different ones."""
    step = max(least, 1 << max(0, number.bit_length() - 4))
    return -(-number // step) * step


def _spread(packed: Tensor, rows: Tensor, size: int) -> Tensor:
    return packed.new_zeros(size, *packed.shape[1:]).index_copy_(0, rows, packed)


class _Gather(torch.autograd.Function):
    """The gradient is copied: torch would add it to zeros, row by row."""

    @staticmethod
    def forward(ctx: Any, spread: Tensor, rows: Tensor) -> Tensor:
        ctx.save_for_backward(rows)
        ctx.size = spread.size(0)
        return spread.index_select(0, rows)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (rows,) = ctx.saved_tensors
        return _spread(grad, rows, ctx.size), None
