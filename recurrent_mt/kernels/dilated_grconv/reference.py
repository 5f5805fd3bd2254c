"""The dilated gated recursive convolution as a loop over sentences and levels."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..grconv.reference import in_packed_order, merge
from .interface import DilatedGRConvOutput, DilatedGRConvWeights


def dilated_grconv(
    leaves: Tensor, weights: DilatedGRConvWeights, counts: Sequence[int], height: int
) -> DilatedGRConvOutput:
    """Computes :func:`recurrent_mt.kernels.dilated_grconv.dilated_grconv` as a loop."""
    positions = leaves.split(list(counts))
    nodes, sums, gates, summaries = {}, {}, {}, []
    for sentence in range(counts[0]):
        h = torch.stack([rows[sentence] for rows in positions if rows.size(0) > sentence])  # (n, H)
        total, level, distance = h, 1, 1
        while distance < h.size(0) and level <= (height or level):
            new, w = merge(h[:-distance], h[distance:], weights.level(level), torch.tanh)
            total = torch.cat([total[:distance], total[distance:] + new])
            h = torch.cat([h[:distance], new])
            for position in range(new.size(0)):
                gates[level, position, sentence] = w[position].detach()
            level, distance = level + 1, 2 * distance
        for position in range(h.size(0)):
            nodes[position, sentence], sums[position, sentence] = h[position], total[position]
        summaries.append(h[-1])
    empty = leaves.new_zeros(0, leaves.size(1))
    return DilatedGRConvOutput(
        in_packed_order(nodes, empty),
        in_packed_order(sums, empty),
        torch.stack(summaries),
        in_packed_order(gates, leaves.new_zeros(0, 3)),
    )
