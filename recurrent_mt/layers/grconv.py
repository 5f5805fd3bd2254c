"""The gated recursive convolutional network of Cho et al. (2014b): the pyramid, and dilated merges both ways."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from ..kernels.dilated_grconv import DilatedGRConvOutput, DilatedGRConvWeights, dilated_grconv
from ..kernels.grconv import GRConvOutput, GRConvWeights, grconv
from ..kernels.packing import Packing, make_packing, rows_but_last
from .encoder_output import EncoderOutput
from .linear import Linear
from .weights import orthogonal_blocks_, xavier_blocks_


class GRConvEncoder(nn.Module):
    """Merges neighboring words into phrases until one vector is left: the summary.

    The annotations are the leaves, or the leaves and the shorter phrases.

    Equations: :func:`recurrent_mt.kernels.grconv.grconv`; leaf j is U x_j + b (Cho et al. 2014b, section 2.2).

    Args:
        input_size: E.
        hidden_size: H.
        activation: φ of the candidate, ``tanh`` or ``relu``.
        height: stop at this level, so that the cost is linear in the length; 0: go up to the root. A sentence of more
            than ``height`` + 1 words then has no root: its summary is the mean of its nodes on that level. Shorter
            sentences are not affected.
        annotation_height: the annotations are the nodes of all levels up to this one, that is, all spans of up to
            ``annotation_height`` + 1 words; 0: the leaves.

    Raises:
        ValueError: if the annotations are above the last level.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        activation: str = "tanh",
        height: int = 0,
        annotation_height: int = 0,
    ) -> None:
        super().__init__()
        if 0 < height < annotation_height:
            raise ValueError(
                f"--grconv-annotation-height {annotation_height} is above --grconv-height {height}: "
                "no node above the height is computed"
            )
        self.annotation_size = self.summary_size = hidden_size
        self.activation = activation
        self.height = height
        self.annotation_height = annotation_height
        self.leaves = Linear(input_size, hidden_size)
        self.left = nn.Parameter(orthogonal_blocks_(torch.empty(hidden_size, hidden_size)))
        self.right = nn.Parameter(orthogonal_blocks_(torch.empty(hidden_size, hidden_size)))
        self.bias = nn.Parameter(torch.zeros(hidden_size))
        self.gate_left = nn.Parameter(torch.empty(3, hidden_size))
        self.gate_right = nn.Parameter(torch.empty(3, hidden_size))
        self.gate_bias = nn.Parameter(torch.zeros(3))
        nn.init.xavier_uniform_(self.leaves.weight)
        nn.init.zeros_(self.leaves.bias)
        nn.init.normal_(self.gate_left, std=0.01)
        nn.init.normal_(self.gate_right, std=0.01)

    def weights(self) -> GRConvWeights:
        """The weights as the kernel takes them."""
        return GRConvWeights(self.left, self.right, self.bias, self.gate_left, self.gate_right, self.gate_bias)

    def pyramid(self, embedded: Tensor, packing: Packing) -> tuple[Tensor, GRConvOutput]:
        """The leaves (N, H) of embedded words (B, S, E), and the nodes and gates above them, all packed."""
        leaves = self.leaves(packing.pack(embedded))
        return leaves, grconv(
            leaves,
            self.weights(),
            batch_sizes=packing.batch_sizes,
            activation=self.activation,
            height=self.height,
            annotation_height=self.annotation_height,
        )

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes embedded words (B, S, E); ``padding_mask`` (B, S) is True on padding."""
        packing = make_packing(padding_mask)
        leaves, pyramid = self.pyramid(embedded, packing)
        empty = leaves.new_zeros(embedded.size(0) - pyramid.summaries.size(0), leaves.size(1))
        summary = packing.unsort(torch.cat([pyramid.summaries, empty]))
        if not self.annotation_height:
            return EncoderOutput(packing.unpack(leaves), padding_mask, summary)
        height = min(self.annotation_height, packing.width - 1)
        return EncoderOutput(
            unpack_spans(torch.cat([leaves, pyramid.nodes]), packing, height),
            span_padding(padding_mask, height),
            summary,
            span_coverage(packing.width, height, leaves),
        )


def unpack_spans(levels: Tensor, packing: Packing, height: int) -> Tensor:
    """Puts the spans of 1 to ``height`` + 1 tokens into a padded batch, with zeros on padding.

    Level by level: S columns for single tokens, S − 1 for spans of two, S − 2 for spans of three, and so on. Within a
    level, a span is in the column of its first token, so its place does not depend on which end is padded.

    Args:
        levels: (M, D) packed spans, level by level, and within a level packed like the tokens of shorter sentences.
        packing: the packing of the tokens.
        height: the last level, at most S − 1.

    Returns:
        (B, S', D) with S' = S + (S − 1) + … + (S − ``height``).
    """
    batch, width = packing.sorted_indices.numel(), packing.width
    starts = level_starts(width, height)
    places = []
    for level in range(height + 1):
        first_tokens = packing.rows.index_select(0, rows_but_last(packing.batch_sizes, level, packing.rows.device))
        sentence, column = first_tokens.div(width, rounding_mode="floor"), first_tokens.remainder(width)
        places.append(sentence * starts[-1] + starts[level] + column)
    padded = levels.new_zeros(batch * starts[-1], levels.size(1)).index_copy(0, torch.cat(places), levels)
    return padded.unflatten(0, (batch, starts[-1]))


def span_padding(padding_mask: Tensor, height: int) -> Tensor:
    """True where :func:`unpack_spans` puts no span: (B, S) → (B, S')."""
    width = padding_mask.size(1)
    # A sentence's tokens are contiguous: a span lies within the sentence if both its ends do.
    return torch.cat([padding_mask[:, : width - level] | padding_mask[:, level:] for level in range(height + 1)], dim=1)


def span_coverage(width: int, height: int, like: Tensor) -> Tensor:
    """The tokens that each span covers, with equal shares: (S', S).

    Args:
        width: S.
        height: the last level, at most S − 1.
        like: a tensor of the wanted device and floating-point type.
    """
    return torch.cat(
        [like.new_ones(width - level, width).triu().tril(level) / (level + 1) for level in range(height + 1)]
    )


def level_starts(width: int, height: int) -> list[int]:
    """The first column of each level, followed by S', the number of all columns."""
    return [level * width - level * (level - 1) // 2 for level in range(height + 2)]


DILATED_SUMMARIES = ("roots", "max")
#: How many wavelengths tell positions apart: of 2π, 4π, … 256π words.
WAVES = 8


class DilatedGRConv(nn.Module):
    """The merges of one direction; see :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv` for the equations.

    Args:
        size: H.
        weight_sets: levels with weights of their own, from the lowest; all levels above share the last one's. 1: all
            levels share them.
        height: the last level; 0: the one that has merged all words.
    """

    def __init__(self, size: int, *, weight_sets: int, height: int) -> None:
        super().__init__()
        self.height = height
        self.left = nn.Parameter(torch.empty(weight_sets, size, size))
        self.right = nn.Parameter(torch.empty(weight_sets, size, size))
        self.bias = nn.Parameter(torch.zeros(weight_sets, size))
        self.gate_left = nn.Parameter(torch.empty(weight_sets, 3, size))
        self.gate_right = nn.Parameter(torch.empty(weight_sets, 3, size))
        self.gate_bias = nn.Parameter(torch.zeros(weight_sets, 3))
        for weight in (self.left, self.right):
            orthogonal_blocks_(weight.data.flatten(0, 1))
        nn.init.normal_(self.gate_left, std=0.01)
        nn.init.normal_(self.gate_right, std=0.01)

    def weights(self) -> DilatedGRConvWeights:
        return DilatedGRConvWeights(self.left, self.right, self.bias, self.gate_left, self.gate_right, self.gate_bias)

    def forward(self, leaves: Tensor, packing: Packing) -> DilatedGRConvOutput:
        """The nodes over packed leaves (N, H)."""
        return dilated_grconv(leaves, self.weights(), batch_sizes=packing.batch_sizes, height=self.height)


class DilatedGRConvEncoder(nn.Module):
    """Merges the words before each word, and, with weights of its own, those after it, in log n levels.

    The annotation of a word has a part for each direction: the sum of its nodes on all levels and its leaf. The
    summary is the two nodes that have merged the whole sentence: the last word's forward, and the first word's backward
    (with a height K, they have merged the last 2^K words and the first 2^K); or of each unit the largest number in any
    annotation, as in Conneau et al. (2017), "Supervised Learning of Universal Sentence Representations", section 3.2.2,
    over the states of two LSTMs.

    Leaf j of a direction is U x_j + b, as in :class:`~recurrent_mt.layers.grconv.GRConvEncoder`, or, with positions,
    U x_j + P p_j + b, where p_j are the :func:`waves` of j and P starts near zero. Merges know how far words are apart,
    not where they are: with few levels, attention otherwise returns to words that it has translated.

    Args:
        input_size: E.
        hidden_size: of both directions together, 2H.
        summary: ``roots`` or ``max``.
        height: the last level, K; 0: the one that has merged all words.
        positions: whether leaves know their positions.
        weight_sets: as in :class:`DilatedGRConv`.

    Raises:
        ValueError: if the size is odd.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        summary: str = "roots",
        height: int = 0,
        positions: bool = False,
        weight_sets: int = 1,
    ) -> None:
        super().__init__()
        if hidden_size % 2:
            raise ValueError(
                "--grconv-dilated gives each direction half of --encoder-hidden-size, which must be even, "
                f"not {hidden_size}"
            )
        self.annotation_size = self.summary_size = hidden_size
        self.summary = summary
        self.leaves = Linear(input_size, hidden_size)
        xavier_blocks_(self.leaves.weight, hidden_size // 2)
        nn.init.zeros_(self.leaves.bias)
        self.positions = None
        if positions:
            self.positions = Linear(2 * WAVES, hidden_size, bias=False)
            nn.init.normal_(self.positions.weight, std=0.01)
        self.directions = nn.ModuleList(
            DilatedGRConv(hidden_size // 2, weight_sets=weight_sets, height=height) for _ in range(2)
        )

    def merge(self, embedded: Tensor, packing: Packing) -> list[DilatedGRConvOutput]:
        """What both directions make of embedded words (B, S, E), packed, the backward one with sentences reversed."""
        leaves = self.leaves(packing.pack(embedded))
        if self.positions is not None:
            batch_sizes = torch.tensor(packing.batch_sizes, dtype=torch.long, device=leaves.device)
            positions = self.positions(waves(batch_sizes.numel(), like=leaves))
            leaves = leaves + positions.repeat_interleave(batch_sizes, dim=0)
        parts = packing.split_directions(leaves)
        directions = cast("list[DilatedGRConv]", self.directions)
        return [direction(part, packing) for direction, part in zip(directions, parts)]

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes embedded words (B, S, E); ``padding_mask`` (B, S) is True on padding."""
        packing = make_packing(padding_mask)
        forward, backward = self.merge(embedded, packing)
        padded = packing.unpack(packing.join_directions(forward.sums, backward.sums))
        if self.summary == "max":
            return EncoderOutput(padded, padding_mask, largest(padded, padding_mask))
        roots = torch.cat([forward.summaries, backward.summaries], dim=1)
        empty = roots.new_zeros(embedded.size(0) - roots.size(0), roots.size(1))
        summary = packing.unsort(torch.cat([roots, empty]))
        return EncoderOutput(padded, padding_mask, summary)


def waves(length: int, *, like: Tensor) -> Tensor:
    """A tenth of the sines, then of the cosines, of j / 2^k for the positions j from 0, with k from 0 to 7: (S, 16).

    Unlike in Vaswani et al. (2017, section 3.5), no wave is so long that it hardly changes within a sentence. Adam's
    steps are equally large for all weights: with larger waves, positions outweigh words at first, which then are
    learned later.

    Args:
        length: S.
        like: a tensor of the wanted device and type.
    """
    positions = torch.arange(length, device=like.device, dtype=torch.float64)
    angles = positions[:, None] / 2.0 ** torch.arange(WAVES, device=like.device)
    return 0.1 * torch.cat([angles.sin(), angles.cos()], dim=1).to(like.dtype)


def largest(annotations: Tensor, padding_mask: Tensor) -> Tensor:
    """Each unit's largest number over the words of a sentence: (B, S, D) → (B, D), zeros for a sentence without any."""
    words = annotations.masked_fill(padding_mask.unsqueeze(2), -torch.inf)
    return words.max(dim=1).values.masked_fill(padding_mask.all(dim=1, keepdim=True), 0)
