"""Counts a model's arithmetic per target token."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from recurrent_mt.arguments import positive
from recurrent_mt.kernels.dispatch import using
from recurrent_mt.text_files import check_output_files, write_text

from ..checkpoints.checkpoint import Checkpoint

Shape = Sequence[int]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", required=True, help="checkpoint of the model")
    parser.add_argument("--data", required=True, help="folder of binarized data with a test split")
    parser.add_argument(
        "--sentences", type=positive, default=50, help="how many sentences to count on, the first of the test set"
    )
    parser.add_argument("--out", help="JSON file to write")


def run(options: argparse.Namespace) -> None:
    """Prints the count."""
    check_output_files([options.checkpoint], filter(None, [options.out]))
    checkpoint = Checkpoint(options.checkpoint, options.data)
    counted = count_operations(checkpoint, *checkpoint.first_pairs(options.sentences))
    if options.out:
        write_text(options.out, json.dumps({**asdict(counted), "per_token": counted.per_token}) + "\n")
    print(f"{counted.per_token:,.0f} operations a target token, over {counted.sentences} sentences")


@dataclass(frozen=True)
class Operations:
    """What was counted."""

    #: floating-point operations in matrix products and convolutions, two for each multiplication with its addition;
    #: elementwise work is left out
    total: int
    sentences: int  # how many were scored, one at a time, so that nothing was counted on padding
    target_tokens: int  # how many they have, ends of sentences included

    @property
    def per_token(self) -> float:
        """Operations per target token, including the encoder's share."""
        return self.total / self.target_tokens


def count_operations(checkpoint: Checkpoint, sources: Sequence[str], targets: Sequence[str]) -> Operations:
    """Counts a forward pass over each pair, with the target given.

    Args:
        checkpoint: any fairseq encoder–decoder.
        sources: space-separated tokens.
        targets: the same, and as many.

    Raises:
        ValueError: if there is no pair, if there are not as many targets as sources, or if a sentence is too long.
    """
    if not sources:
        raise ValueError("there are no sentences to count operations on")
    total = tokens = 0
    # oneDNN's fused LSTM would hide the products of fairseq's lstm, and the native kernels those of our models.
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False), using("packed"):
        for source, target in zip(sources, targets, strict=True):
            longest = max(map(len, (source.split(), target.split()))) + 1
            for batch in checkpoint.batches([source], [target], max_tokens=longest):
                with FlopCounterMode(display=False, custom_mapping=FORMULAS) as counter:
                    output = checkpoint.model(**batch["net_input"])
                    if getattr(checkpoint.model.decoder, "adaptive_softmax", None) is not None:
                        # Then the scores of words are no part of the model's output.
                        checkpoint.model.get_normalized_probs(output, log_probs=True)
                total += counter.get_total_flops()
                tokens += batch["ntokens"]
    return Operations(total, len(sources), tokens)


def matrix_product(_: Shape, left: Shape, right: Shape, *rest: Any, **keywords: Any) -> int:
    """Counts ``sums.addmm_(left, right)``."""
    return 2 * prod(left) * right[-1]


def matrix_vector_product(matrix: Shape, vector: Shape, *rest: Any, **keywords: Any) -> int:
    """Counts ``matrix @ vector``."""
    return 2 * prod(matrix)


def scaled_dot_product_attention(query: Shape, key: Shape, value: Shape, *rest: Any, **keywords: Any) -> int:
    """Scores and their weighted sum; (B, heads, T, d), (B, heads, S, d), (B, heads, S, d')."""
    return 2 * prod(query) * key[-2] + 2 * prod(query[:-1]) * prod(value[-2:])


def time_first_convolution(inputs: Shape, weights: Shape, *rest: Any, out_shape: Shape, **keywords: Any) -> int:
    """Counts fairseq's ``conv_tbc``; (S, B, C), (K, C, O), output (S', B, O)."""
    return 2 * prod(out_shape) * prod(weights[:2])


#: What torch's own counter misses.
FORMULAS: dict[Any, Callable[..., int]] = {
    torch.ops.aten.addmm_: matrix_product,
    torch.ops.aten.mv: matrix_vector_product,
    torch.ops.aten.conv_tbc: time_first_convolution,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: scaled_dot_product_attention,
}
