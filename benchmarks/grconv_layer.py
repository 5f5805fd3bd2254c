"""The grConv layer, forward and backward, against the matrix products that it cannot do without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from user_dir.kernels.grconv import GRConvWeights, grconv
from user_dir.kernels.packing import Packing, make_packing

from .timing import median_seconds

#: Other pyramids than Cho et al.'s (2014b): gates a node and options of the kernel.
VARIANTS: dict[str, dict[str, Any]] = {
    "height 4": {"height": 4},
    "nodes to level 2": {"annotation_height": 2},
    "unit gates": {"unit_gates": True},
}


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
    run = _layer(packing, width, seed)
    _assert_parity(run)
    seconds = median_seconds(
        {"packed": lambda: run("packed"), "three products": _products(packing, width)}, rounds=rounds
    )
    seconds |= median_seconds({"reference loop": lambda: run("reference")}, rounds=1)
    return {**seconds, "ratio": seconds["packed"] / seconds["three products"]}


def measure_variants(*, width: int, sentences: int, longest: int, rounds: int, seed: int = 1) -> dict[str, float]:
    """The times of :data:`VARIANTS` divided by the plain layer's; the arguments are those of :func:`measure`.

    Raises:
        AssertionError: if a variant does not agree with its reference.
    """
    packing = _packing(sentences, longest, seed)
    runs = {name: _layer(packing, width, seed, **options) for name, options in [("plain", {}), *VARIANTS.items()]}
    for run in runs.values():
        _assert_parity(run)
    seconds = median_seconds({name: lambda run=run: run("packed") for name, run in runs.items()}, rounds=rounds)
    return {name: seconds[name] / seconds["plain"] for name in VARIANTS}


def _layer(
    packing: Packing, width: int, seed: int, *, unit_gates: bool = False, **heights: int
) -> Callable[[str], tuple[Tensor, ...]]:
    """A forward and backward pass with the backend of that name: outputs and gradients."""
    torch.manual_seed(seed)
    gates = 3 * width if unit_gates else 3
    leaves = torch.randn(sum(packing.counts), width, requires_grad=True)
    shapes = [(width, width), (width, width), (width,), (gates, width), (gates, width), (gates,)]
    weights = GRConvWeights(*((torch.randn(shape) / (2 * width) ** 0.5).requires_grad_() for shape in shapes))

    def run(backend: str) -> tuple[Tensor, ...]:
        summaries, _, nodes = grconv(
            leaves, weights, counts=packing.counts, activation="relu", backend=backend, **heights
        )
        loss = summaries.sum() + nodes.sum()
        return summaries, nodes, *torch.autograd.grad(loss, [leaves, *weights])

    return run


def _assert_parity(run: Callable[[str], tuple[Tensor, ...]]) -> None:
    for ours, expected in zip(run("packed"), run("reference")):
        scale = float(expected.detach().abs().max()) if expected.numel() else 1.0
        torch.testing.assert_close(ours, expected, rtol=1e-3, atol=1e-3 * scale)


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
