"""Ragged batches without padding: which row of a padded batch goes where in a packed one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Packing(NamedTuple):
    """The plan of a packed batch, with PyTorch's names (``torch.nn.utils.rnn.PackedSequence``) where it has them.

    Packed rows are ordered by position, and within a position by sentence, longest sentence first. The sentences still
    running at a position are therefore always the first ones, and a recurrence needs no masks.
    """

    #: for each position, the number of sentences longer than it; never increasing, with the sum N
    batch_sizes: tuple[int, ...]
    sorted_indices: Tensor  # (B,) the sentences, longest first: their packed order
    unsorted_indices: Tensor  # (B,) the inverse of ``sorted_indices``
    is_sorted: bool  # whether the batch already is in packed order
    sentence: Tensor  # (N,) for each packed row, its sentence, as a place in packed order
    rows: Tensor  # (N,) for each packed row, its place in a padded batch flattened to (B * S, …)
    reverse: Tensor  # (N,) for each packed row, the packed row that mirrors it within its sentence (an involution)
    final: Tensor  # (B,) for each sentence, in packed order, the packed row of its last position, or -1 if it is empty
    width: int  # S, the length of the padded batch

    def pack(self, padded: Tensor) -> Tensor:
        """The valid rows of a padded batch: (B, S, …) → (N, …)."""
        return padded.flatten(0, 1).index_select(0, self.rows)

    def unpack(self, packed: Tensor) -> Tensor:
        """The inverse of :meth:`pack`, with zeros on padding: (N, …) → (B, S, …)."""
        batch = self.sorted_indices.numel()
        padded = packed.new_zeros(batch * self.width, *packed.shape[1:]).index_copy(0, self.rows, packed)
        return padded.unflatten(0, (batch, self.width))

    def mirror(self, packed: Tensor) -> Tensor:
        """Every sentence reversed: (N, …) → (N, …)."""
        return _Mirror.apply(packed, self.reverse)

    def split_directions(self, packed: Tensor) -> tuple[Tensor, Tensor]:
        """The two halves of rows (N, 2H), the second with every sentence reversed: (N, H) each."""
        return _Split.apply(packed, self.reverse)

    def join_directions(self, forward: Tensor, backward: Tensor) -> Tensor:
        """The inverse of :meth:`split_directions`."""
        return _Join.apply(forward, backward, self.reverse)

    def sort(self, sentences: Tensor) -> Tensor:
        """Puts one row per sentence, (B, …), into packed order."""
        return sentences if self.is_sorted else sentences.index_select(0, self.sorted_indices)

    def unsort(self, sentences: Tensor) -> Tensor:
        """Undoes :meth:`sort`."""
        return sentences if self.is_sorted else sentences.index_select(0, self.unsorted_indices)

    def last(self, packed: Tensor, initial: Tensor) -> Tensor:
        """Each sentence's last packed row, or its row of ``initial`` if the sentence is empty.

        Args:
            packed: (N, H).
            initial: (B, H) in packed order.

        Returns:
            (B, H) in the order of the batch.
        """
        if packed.size(0) == 0:
            return self.unsort(initial)
        rows = packed.index_select(0, self.final.clamp(min=0))
        return self.unsort(torch.where((self.final < 0).unsqueeze(1), initial, rows))


class _Mirror(torch.autograd.Function):
    """The gradient is gathered too: torch would add it to zeros, row by row."""

    @staticmethod
    def forward(ctx: Any, packed: Tensor, reverse: Tensor) -> Tensor:
        ctx.save_for_backward(reverse)
        return packed.index_select(0, reverse)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _Mirror.apply(grad, *ctx.saved_tensors), None


class _Split(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, packed: Tensor, reverse: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(reverse)
        forward, backward = packed.chunk(2, dim=1)
        return forward.contiguous(), backward.index_select(0, reverse)

    @staticmethod
    def backward(ctx: Any, grad_forward: Tensor, grad_backward: Tensor) -> tuple[Tensor, None]:
        return _Join.apply(grad_forward, grad_backward, *ctx.saved_tensors), None


class _Join(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, forward: Tensor, backward: Tensor, reverse: Tensor) -> Tensor:
        ctx.save_for_backward(reverse)
        joined = forward.new_empty(forward.size(0), 2 * forward.size(1))
        halves = joined.chunk(2, dim=1)
        halves[0].copy_(forward)
        halves[1].index_copy_(0, reverse, backward)  # its own inverse
        return joined

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        return *_Split.apply(grad, *ctx.saved_tensors), None


def make_packing(padding_mask: Tensor) -> Packing:
    """Plans the packing of a batch that is padded on the left or on the right.

    Args:
        padding_mask: (B, S), True on padding; the other positions of each row must be contiguous.

    Raises:
        ValueError: if the valid positions of a row are not contiguous.
    """
    valid = ~padding_mask.cpu()
    batch, width = valid.shape
    if width == 0:
        raise ValueError(f"a batch of {batch} sentences has no positions")
    lengths = valid.sum(dim=1)
    first = valid.to(torch.uint8).argmax(dim=1)
    positions = torch.arange(width)
    expected = (positions >= first[:, None]) & (positions < (first + lengths)[:, None])
    if not torch.equal(expected, valid):
        row = int((expected != valid).any(dim=1).nonzero()[0])
        raise ValueError(f"padding inside sentence {row} of the batch: padding may only be at one end of a row")

    sentences = torch.arange(batch)
    sorted_lengths, order = torch.sort(lengths, descending=True, stable=True)
    rank = torch.empty_like(order)
    rank[order] = sentences
    running = positions[:, None] < sorted_lengths  # (S, B)
    batch_sizes = running.sum(dim=1)
    offsets = batch_sizes.cumsum(0) - batch_sizes
    position, sentence = running.nonzero(as_tuple=True)  # position-major, longest sentence first
    final = torch.where(sorted_lengths > 0, offsets[(sorted_lengths - 1).clamp(min=0)] + sentences, -1)
    device = padding_mask.device
    return Packing(
        batch_sizes=tuple(batch_sizes[batch_sizes > 0].tolist()),
        sorted_indices=order.to(device),
        unsorted_indices=rank.to(device),
        is_sorted=torch.equal(order, sentences),
        sentence=sentence.to(device),
        rows=(order[sentence] * width + first[order][sentence] + position).to(device),
        reverse=(offsets[sorted_lengths[sentence] - 1 - position] + sentence).to(device),
        final=final.to(device),
        width=width,
    )


def padding_at_ends(tokens: Tensor, padding: int) -> Tensor:
    """Where tokens (B, S) are padding: the padding symbol before a sentence's first word and after its last.

    Between two words, the symbol is a word: a text may hold it literally, and fairseq does not tell the two apart.
    """
    symbols = tokens.eq(padding)
    before = symbols.cumprod(dim=1)
    after = symbols.flip(1).cumprod(dim=1).flip(1)
    return (before + after).bool()


def make_step_packing(batch: int, device: torch.device | str) -> Packing:
    """The packing of one position of ``batch`` running sentences: what a step of decoding needs."""
    rows = torch.arange(batch, device=device)
    return Packing((batch,), rows, rows, True, rows, rows, rows, rows, 1)


def previous_rows(rows: Tensor, initial: Tensor, batch_sizes: Sequence[int]) -> Tensor:
    """For each packed row, the row one position earlier in its sentence, or its sentence's row of ``initial``.

    Args:
        rows: (N, …).
        initial: (B, …) in packed order.
        batch_sizes: as in :class:`Packing`.

    Returns:
        (N, …).
    """
    if not batch_sizes:
        return rows
    earlier = rows.split(list(batch_sizes))
    # None of the last part: the rows have a gradient even if there is no other part, of zeros. A process without one
    # would leave the others waiting (DistributedDataParallel).
    following = [*batch_sizes[1:], 0]
    return torch.cat([initial[: batch_sizes[0]], *(part[:count] for part, count in zip(earlier, following))])


def following_rows(rows: Tensor, batch_sizes: Sequence[int]) -> Tensor:
    """For each packed row, the row one position later in its sentence, or zeros after the last: (N, …) → (N, …)."""
    if not batch_sizes:
        return rows
    later = [*rows.split(list(batch_sizes))[1:], rows[:0]]
    ended = (rows.new_zeros(count - part.size(0), *rows.shape[1:]) for part, count in zip(later, batch_sizes))
    return torch.cat([part for pair in zip(later, ended) for part in pair])


def rows_but_last(batch_sizes: Sequence[int], number: int, device: torch.device) -> Tensor:
    """The packed rows without each sentence's last ``number``, in the order of sentences that are that much shorter.

    Args:
        batch_sizes: as in :class:`Packing`.
        number: how many rows to leave out at the end of each sentence; shorter sentences have none left.
        device: where to put the result.

    Returns:
        Row numbers (``sum(batch_sizes[number:])``,), increasing.
    """
    left = torch.tensor(batch_sizes[number:], dtype=torch.long)
    starts = torch.tensor([0, *accumulate(batch_sizes[:-1])])[: left.numel()]
    shift = starts - (left.cumsum(0) - left)
    return (torch.arange(int(left.sum())) + shift.repeat_interleave(left)).to(device)
