"""The dilated gated recursive convolution as an encoder: log n merges over each word, in both directions."""

from __future__ import annotations

from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from ..kernels.dilated_grconv import DilatedGRConvOutput, DilatedGRConvWeights, dilated_grconv
from ..kernels.packing import Packing, make_packing
from .encoder_output import EncoderOutput
from .weights import orthogonal_blocks_, xavier_blocks_

ANNOTATIONS = ("sum", "top", "top_and_leaf")
SUMMARIES = ("roots", "max")


class Merges(NamedTuple):
    """What the merges of all levels are like.

    Attributes:
        activation: φ of the candidate, ``tanh`` or ``relu``.
        unit_gates: three gates for each unit of a node instead of three for all of them.
        weight_sets: levels with matrices of their own, from the lowest; all levels above share the last one's. 1: all
            levels share them.
        bias_sets: the same for biases.
    """

    activation: str = "tanh"
    unit_gates: bool = False
    weight_sets: int = 1
    bias_sets: int = 1


SHARED = Merges()


class DilatedGRConv(nn.Module):
    """The merges of one direction; see :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv` for the equations.

    Args:
        size: H.
        merges: what they are like.
        backend: the kernel's implementation.

    Raises:
        ValueError: if there is no set of weights.
    """

    def __init__(self, size: int, merges: Merges, *, backend: str) -> None:
        super().__init__()
        activation, unit_gates, weight_sets, bias_sets = merges
        for option, value in (("weights", weight_sets), ("biases", bias_sets)):
            if value < 1:
                raise ValueError(f"--grconv-dilated-{option} must be 1 (shared by all levels) or more, not {value}")
        self.activation = activation
        self.backend = backend
        gates = 3 * size if unit_gates else 3
        self.left = nn.Parameter(torch.empty(weight_sets, size, size))
        self.right = nn.Parameter(torch.empty(weight_sets, size, size))
        self.bias = nn.Parameter(torch.zeros(bias_sets, size))
        self.gate_left = nn.Parameter(torch.empty(weight_sets, gates, size))
        self.gate_right = nn.Parameter(torch.empty(weight_sets, gates, size))
        self.gate_bias = nn.Parameter(torch.zeros(bias_sets, gates))
        for weight in (self.left, self.right):
            orthogonal_blocks_(weight.data.flatten(0, 1))
        nn.init.normal_(self.gate_left, std=0.01)
        nn.init.normal_(self.gate_right, std=0.01)

    def weights(self) -> DilatedGRConvWeights:
        return DilatedGRConvWeights(self.left, self.right, self.bias, self.gate_left, self.gate_right, self.gate_bias)

    def forward(self, leaves: Tensor, packing: Packing) -> DilatedGRConvOutput:
        """The nodes over packed leaves (N, H)."""
        return dilated_grconv(
            leaves, self.weights(), counts=packing.counts, activation=self.activation, backend=self.backend
        )


class DilatedGRConvEncoder(nn.Module):
    """Merges the words before each word, and, with weights of its own, those after it, in log n levels.

    The annotation of a word has a part for each direction: the highest node that ends at it, which has merged all words
    up to there; or with its leaf added; or the sum of its nodes on all levels and its leaf. The summary is the two
    nodes that have merged the whole sentence: the last word's forward, and the first word's backward; or of each unit
    the largest number in any annotation, as in Conneau et al. (2017), "Supervised Learning of Universal Sentence
    Representations", section 3.2.2, over the states of two LSTMs.

    Leaf j of a direction is U x_j + b, as in :class:`~recurrent_mt.layers.grconv.GRConvEncoder`.

    Args:
        input_size: E.
        hidden_size: of both directions together, 2H.
        annotations: ``sum``, ``top`` or ``top_and_leaf``.
        summary: ``roots`` or ``max``.
        merges: what the merges are like.
        backend: the kernel's implementation.

    Raises:
        ValueError: if the size is odd, if there is no set of weights, or if annotations or summary are unknown.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        annotations: str = "sum",
        summary: str = "roots",
        merges: Merges = SHARED,
        backend: str = "packed",
    ) -> None:
        super().__init__()
        if hidden_size % 2:
            raise ValueError(
                "--grconv-dilated gives each direction half of --encoder-hidden-size, which must be even, "
                f"not {hidden_size}"
            )
        for what, name, known in (("annotations", annotations, ANNOTATIONS), ("summary", summary, SUMMARIES)):
            if name not in known:
                raise ValueError(f"a dilated grConv has no {what} {name!r}; it has: {', '.join(known)}")
        self.annotation_size = self.summary_size = hidden_size
        self.annotations = annotations
        self.summary = summary
        self.leaves = nn.Linear(input_size, hidden_size)
        xavier_blocks_(self.leaves.weight, hidden_size // 2)
        nn.init.zeros_(self.leaves.bias)
        self.directions = nn.ModuleList(DilatedGRConv(hidden_size // 2, merges, backend=backend) for _ in range(2))

    def merge(self, embedded: Tensor, packing: Packing) -> tuple[Tensor, list[DilatedGRConvOutput]]:
        """The leaves (N, 2H) of embedded words (B, S, E), packed, and what both directions make of them.

        The backward direction's is packed, too, but with every sentence reversed.
        """
        leaves = self.leaves(packing.pack(embedded))
        parts = packing.split_directions(leaves)
        directions = cast("list[DilatedGRConv]", self.directions)
        return leaves, [direction(part, packing) for direction, part in zip(directions, parts)]

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes a batch.

        Args:
            embedded: (B, S, E).
            padding_mask: (B, S) True on padding.
        """
        packing = make_packing(padding_mask)
        leaves, (forward, backward) = self.merge(embedded, packing)
        rows = [one.sums if self.annotations == "sum" else one.nodes for one in (forward, backward)]
        annotations = packing.join_directions(*rows)
        if self.annotations == "top_and_leaf":
            annotations = annotations + leaves
        padded = packing.unpack(annotations)
        if self.summary == "max":
            return EncoderOutput(padded, padding_mask, largest(padded, padding_mask))
        roots = torch.cat([forward.summaries, backward.summaries], dim=1)
        empty = roots.new_zeros(embedded.size(0) - roots.size(0), roots.size(1))
        summary = packing.unsort(torch.cat([roots, empty]))
        return EncoderOutput(padded, padding_mask, summary)


def largest(annotations: Tensor, padding_mask: Tensor) -> Tensor:
    """Each unit's largest number over the words of a sentence: (B, S, D) → (B, D), zeros for a sentence without any."""
    words = annotations.masked_fill(padding_mask.unsqueeze(2), -torch.inf)
    return words.max(dim=1).values.masked_fill(padding_mask.all(dim=1, keepdim=True), 0)
