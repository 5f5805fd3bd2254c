"""The grConv layer, forward and backward, against the matrix products that it cannot do without."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from user_dir.kernels.grconv import GRConvWeights, grconv
from user_dir.kernels.packing import Packing, make_packing

from .timing import median_seconds


def measure(*, width: int, sentences: int, longest: int, rounds: int, seed: int = 1) -> dict[str, float]:
    """Times the layer after checking it against the reference.

    A node's candidate and gates are a (2H) × (H + 3) product of its children. Forward and backward need three products
    of that size: for the node, for its children's gradient and for the weights' gradient. They are timed a level at
    a time, as the data allow.

    Args:
        width: H.
        sentences: B; their lengths are drawn between 5 and ``longest``, one is the longest.
        longest: leaves of the longest sentence.
        rounds: of timing.
        seed: of lengths and values.

    Returns:
        Seconds of ``packed``, ``reference loop`` and ``three products``; the ratio of the first to the last.

    Raises:
        AssertionError: if the layer does not agree with its reference.
    """
    packing = _packing(sentences, longest, seed)
    torch.manual_seed(seed)
    leaves = torch.randn(sum(packing.counts), width, requires_grad=True)
    shapes = [(width, width), (width, width), (width,), (3, width), (3, width), (3,)]
    weights = GRConvWeights(*((torch.randn(shape) / (2 * width) ** 0.5).requires_grad_() for shape in shapes))

    def run(backend: str) -> tuple[Tensor, ...]:
        roots, _ = grconv(leaves, weights, counts=packing.counts, activation="relu", backend=backend)
        return roots, *torch.autograd.grad(roots.sum(), [leaves, *weights])

    for ours, expected in zip(run("packed"), run("reference")):
        torch.testing.assert_close(ours, expected, rtol=1e-3, atol=1e-3 * float(expected.detach().abs().max()))
    seconds = median_seconds(
        {"packed": lambda: run("packed"), "three products": _products(packing, width)}, rounds=rounds
    )
    seconds |= median_seconds({"reference loop": lambda: run("reference")}, rounds=1)
    return {**seconds, "ratio": seconds["packed"] / seconds["three products"]}


def _packing(sentences: int, longest: int, seed: int) -> Packing:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(min(5, longest), longest + 1, (sentences,), generator=generator)
    lengths[0] = longest
    return make_packing(torch.arange(longest) >= lengths[:, None])


def _products(packing: Packing, width: int) -> Callable[[], None]:
    weight = torch.randn(2 * width, width + 3)
    nodes = [sum(packing.counts[level:]) for level in range(1, len(packing.counts))]
    levels = [(torch.randn(count, 2 * width), torch.randn(count, width + 3)) for count in nodes]

    def run() -> None:
        for children, gradient in levels:
            torch.mm(children, weight)
            torch.mm(gradient, weight.t())
            torch.mm(children.t(), gradient)

    return run
