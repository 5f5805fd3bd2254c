"""The gated recursive convolutional network of Cho et al. (2014b)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..kernels.grconv import GRConvOutput, GRConvWeights, grconv
from ..kernels.packing import Packing, make_packing, rows_but_last
from .encoder_output import EncoderOutput
from .weights import orthogonal_blocks_


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
        unit_gates: three gates for each unit of a node instead of three for all of them.
        checkpoint_levels: keep one in this many levels for the backward pass and recompute the others; 0: keep
            everything that takes a product.
        backend: the kernel's implementation.

    Raises:
        ValueError: if a height or ``checkpoint_levels`` is negative, or if the annotations are above the last level.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        activation: str = "tanh",
        height: int = 0,
        annotation_height: int = 0,
        unit_gates: bool = False,
        checkpoint_levels: int = 0,
        backend: str = "packed",
    ) -> None:
        super().__init__()
        for option, value in (("height", height), ("annotation-height", annotation_height)):
            if value < 0:
                raise ValueError(f"--grconv-{option} must be 0 or more, not {value}")
        if checkpoint_levels < 0:
            raise ValueError(f"--checkpoint-levels must be 0 or more, not {checkpoint_levels}")
        if 0 < height < annotation_height:
            raise ValueError(
                f"--grconv-annotation-height {annotation_height} is above --grconv-height {height}: "
                "no node above the height is computed"
            )
        self.annotation_size = self.summary_size = hidden_size
        self.activation = activation
        self.height = height
        self.annotation_height = annotation_height
        self.checkpoint_levels = checkpoint_levels
        self.backend = backend
        gates = 3 * hidden_size if unit_gates else 3
        self.leaves = nn.Linear(input_size, hidden_size)
        self.left = nn.Parameter(orthogonal_blocks_(torch.empty(hidden_size, hidden_size)))
        self.right = nn.Parameter(orthogonal_blocks_(torch.empty(hidden_size, hidden_size)))
        self.bias = nn.Parameter(torch.zeros(hidden_size))
        self.gate_left = nn.Parameter(torch.empty(gates, hidden_size))
        self.gate_right = nn.Parameter(torch.empty(gates, hidden_size))
        self.gate_bias = nn.Parameter(torch.zeros(gates))
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
            counts=packing.counts,
            activation=self.activation,
            height=self.height,
            annotation_height=self.annotation_height,
            checkpoint_levels=self.checkpoint_levels,
            backend=self.backend,
        )

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes a batch.

        Args:
            embedded: (B, S, E).
            padding_mask: (B, S) True on padding.
        """
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
    batch, width = packing.order.numel(), packing.width
    starts = _level_starts(width, height)
    places = []
    for level in range(height + 1):
        first_tokens = packing.rows.index_select(0, rows_but_last(packing.counts, level, packing.rows.device))
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


def _level_starts(width: int, height: int) -> list[int]:
    """The first column of each level, followed by S', the number of all columns."""
    return [level * width - level * (level - 1) // 2 for level in range(height + 2)]
