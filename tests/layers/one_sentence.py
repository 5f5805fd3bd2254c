"""Encoders of batches against the same mathematics written as loops over one sentence."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tests.kernels.batches import random
from tests.tolerances import PARITY

EMBED = 3

#: Powers of two, one more, one less, a single word, no word.
LENGTHS = [5, 1, 8, 0, 2, 3, 13, 4, 9]


def ragged(lengths: list[int], *, left_pad: bool) -> tuple[Tensor, Tensor, list[Tensor]]:
    """A batch of float64 sentences with NaN on padding, its mask, and the sentences one by one."""
    sentences = [random(length, EMBED, seed=length, dtype=torch.float64) for length in lengths]
    embedded = torch.full((len(lengths), max(lengths), EMBED), float("nan"), dtype=torch.float64)
    mask = torch.ones(len(lengths), max(lengths), dtype=torch.bool)
    for row, (length, sentence) in enumerate(zip(lengths, sentences)):
        start = max(lengths) - length if left_pad else 0
        embedded[row, start : start + length] = sentence
        mask[row, start : start + length] = False
    return embedded, mask, sentences


def randomized(encoder: nn.Module) -> nn.Module:
    """In float64, with no gain, slope or bias left at a value that hides it."""
    torch.manual_seed(3)
    for parameter in encoder.double().parameters():
        nn.init.normal_(parameter, std=0.4)
    return encoder


def assert_follows(encoder: nn.Module, reference: Callable[[Tensor], tuple[Tensor, Tensor]]) -> None:
    """Annotations (n, D) and summary (C,) of every sentence of a batch, padded on either side, are the reference's."""
    randomized(encoder)
    for left_pad in (True, False):
        embedded, mask, sentences = ragged(LENGTHS, left_pad=left_pad)
        with torch.no_grad():
            output = encoder(embedded, mask)
            for row, sentence in enumerate(sentences):
                if len(sentence) == 0:
                    assert output.summary[row].eq(0).all() and output.annotations[row].eq(0).all()
                    continue
                annotations, summary = reference(sentence)
                torch.testing.assert_close(output.annotations[row][~mask[row]], annotations, **PARITY[torch.float64])
                torch.testing.assert_close(output.summary[row], summary, **PARITY[torch.float64])


def assert_gradients_are_right(encoder: nn.Module, lengths: list[int]) -> None:
    """Gradcheck of the embedded words and every parameter."""
    randomized(encoder)
    embedded, mask, _ = ragged(lengths, left_pad=True)
    names = [name for name, _ in encoder.named_parameters()]

    def outputs(words: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor]:
        output = torch.func.functional_call(encoder, dict(zip(names, parameters)), (words, mask))
        return output.annotations, output.summary

    leaves = [embedded.nan_to_num(0.5), *(parameter.detach() for parameter in encoder.parameters())]
    assert torch.autograd.gradcheck(outputs, [leaf.clone().requires_grad_() for leaf in leaves], fast_mode=True)


def parameter_count(module: nn.Module) -> int:
    """How many numbers a module learns."""
    return sum(parameter.numel() for parameter in module.parameters())


def convolve(words: Tensor, layer: nn.Conv1d) -> Tensor:
    """A convolution of one sentence (n, C) that reads zeros beyond its ends, number by number: (n, C')."""
    outputs, inputs, width = layer.weight.shape
    rows = layer.bias.repeat(len(words), 1)
    for position in range(len(words)):
        for offset in range(width):
            place = position + offset - width // 2
            if not 0 <= place < len(words):
                continue
            for channel in range(outputs):
                first = channel // (outputs // layer.groups) * inputs
                rows[position, channel] += layer.weight[channel, :, offset] @ words[place, first : first + inputs]
    return rows


def double(words: Tensor, layer: nn.ConvTranspose1d, length: int) -> Tensor:
    """A transposed convolution of width and stride two of one sentence (⌈n/2⌉, C), cut to n = ``length``: (n, C')."""
    return torch.stack([words[place // 2] @ layer.weight[:, :, place % 2] + layer.bias for place in range(length)])


def normalize(words: Tensor, norm: nn.LayerNorm) -> Tensor:
    """A layer norm of each word (n, C) of one sentence by itself."""
    mean, variance = words.mean(dim=1, keepdim=True), words.var(dim=1, unbiased=False, keepdim=True)
    return (words - mean) / (variance + norm.eps).sqrt() * norm.weight + norm.bias
