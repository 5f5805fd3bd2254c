"""The gated recursive neural network of Chen et al. (2015): a full binary tree over the words of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..kernels.packing import make_packing
from .encoder_output import EncoderOutput
from .linear import Linear
from .weights import projection, xavier_blocks_


class GatedMerge(nn.Module):
    """Two neighboring nodes become one: Chen et al. (2015), section 3.

    With a reset gate r and an update gate z for each dimension::

        [r_L; r_R] = σ(G [h_L; h_R])    ĥ = tanh(W [r_L ⊙ h_L; r_R ⊙ h_R])
        [z_N; z_L; z_R] = softmax over the three, dimension by dimension, of U [ĥ; h_L; h_R]
        h = z_N ⊙ ĥ + z_L ⊙ h_L + z_R ⊙ h_R

    None of the products has a bias: 15 H² weights.

    Args:
        size: H.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.reset = Linear(2 * size, 2 * size, bias=False)
        self.candidate = projection(2 * size, size, bias=False)
        self.update = Linear(3 * size, 3 * size, bias=False)
        xavier_blocks_(self.reset.weight, size)
        xavier_blocks_(self.update.weight, size)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Left and right children, each (N, H) → their parents (N, H)."""
        children = torch.cat([left, right], dim=1)
        candidate = torch.tanh(self.candidate(self.reset(children).sigmoid() * children))
        mixed = torch.cat([candidate, children], dim=1)
        gates = self.update(mixed).unflatten(1, (3, -1)).softmax(dim=1)  # (N, 3, H)
        return (gates * mixed.unflatten(1, (3, -1))).sum(dim=1)


class GRNNEncoder(nn.Module):
    """Merges words two by two, then the pairs two by two, and so on up to the root, which is the summary.

    Chen et al. (2015), section 3; on each level the nodes 2i and 2i + 1 have one parent. They pad a sentence to a power
    of two; here, the last node of an odd level moves up unchanged, so a sentence of n words costs n − 1 merges and no
    padding is ever read. The nodes of all sentences on a level are merged in one product.

    A leaf is W x + b. The paper reads only the root; that the annotations are the leaves is our choice.

    Args:
        input_size: E.
        hidden_size: H.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.annotation_size = self.summary_size = hidden_size
        self.leaves = projection(input_size, hidden_size)
        self.merge = GatedMerge(hidden_size)

    def forward(self, embedded: Tensor, padding_mask: Tensor) -> EncoderOutput:
        """Encodes embedded words (B, S, E); ``padding_mask`` (B, S) is True on padding."""
        packing = make_packing(padding_mask)
        leaves = self.leaves(packing.pack(embedded))
        if len(packing.batch_sizes) < 2:
            # Nothing is merged. The merge has a gradient even so, of zeros: a process without one would leave the
            # others waiting (DistributedDataParallel).
            leaves = torch.cat([leaves, self.merge(leaves[:0], leaves[:0])])
        nodes = list(leaves.split(list(packing.batch_sizes)))
        while len(nodes) > 1:
            nodes = self.raise_level(nodes)
        roots = nodes[0] if len(leaves) else leaves
        empty = leaves.new_zeros(embedded.size(0) - roots.size(0), roots.size(1))
        return EncoderOutput(packing.unpack(leaves), padding_mask, packing.unsort(torch.cat([roots, empty])))

    def raise_level(self, nodes: Sequence[Tensor]) -> list[Tensor]:
        """One level of all sentences' trees.

        Args:
            nodes: for each position on the level, the nodes there, each (n, H): those of the n longest sentences.

        Returns:
            The same for the level above, which has half as many positions, rounded up.
        """
        left, right = nodes[0::2], nodes[1::2]
        paired = [len(others) for others in right]
        parents = self.merge(torch.cat([part[:n] for part, n in zip(left, paired)]), torch.cat(list(right)))
        risen = [part[n:] for part, n in zip(left, paired)]
        merged = [torch.cat(pair) for pair in zip(parents.split(paired), risen)]
        return [*merged, *left[len(right) :]]
