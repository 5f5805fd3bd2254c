"""Keys and values of all states so far, which a search carries from step to step."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


class Buffer:
    """Places for the keys and values of steps, shared by caches that grew out of one another.

    Attributes:
        places: (C, B, 2H).
        used: how many of the C places are taken; the others may hold anything.
    """

    def __init__(self, places: Tensor, used: int) -> None:
        self.places = places
        self.used = used


class KeyValueCache:
    """Keys and values of B sentences at M places: it never changes, yet it grows without being copied.

    It reads the first M places of its buffer. A cache that grows out of it takes the place after them. Only if there is
    no such place, or if another cache took it first, does the new cache move to a larger buffer: because the size
    doubles, the copies for a long sentence add up to no more than its length. Reordering the sentences, as a search
    does at each step, is one copy into a larger buffer. If gradients are needed, nothing is written in place.

    Args:
        buffer: its first M places are this cache's.
        padding: (B, M) True on padding.
    """

    def __init__(self, buffer: Buffer, padding: Tensor) -> None:
        self._buffer = buffer
        self.padding = padding

    @classmethod
    def of(cls, keys_and_values: Tensor, padding: Tensor) -> KeyValueCache:
        """The cache of keys and values (B, M, 2H), with their padding (B, M)."""
        return cls(Buffer(keys_and_values.transpose(0, 1), padding.size(1)), padding)

    @property
    def keys_and_values(self) -> Tensor:
        """The keys and values (B, M, 2H)."""
        return self._places().transpose(0, 1)

    def append(self, keys_and_values: Tensor) -> KeyValueCache:
        """The cache with one more place: keys and values (B, 2H) of every sentence, none of them padding."""
        places, buffer, padding = self._places(), self._buffer, F.pad(self.padding, (0, 1))
        length, sentences, _ = places.shape
        if keys_and_values.requires_grad:
            return KeyValueCache.of(torch.cat([places, keys_and_values[None]]).transpose(0, 1), padding)
        if buffer.used > length or length == buffer.places.size(0):
            buffer = self._room(sentences)
            buffer.places[:length] = places
        buffer.places[length] = keys_and_values
        buffer.used = length + 1
        return KeyValueCache(buffer, padding)

    def index_select(self, sentences: Tensor) -> KeyValueCache:
        """The ``sentences``, in that order."""
        places, padding = self._places(), self.padding.index_select(0, sentences)
        if places.requires_grad:
            return KeyValueCache.of(places.index_select(1, sentences).transpose(0, 1), padding)
        buffer = self._room(sentences.numel())
        torch.index_select(places, 1, sentences, out=buffer.places[: buffer.used])
        return KeyValueCache(buffer, padding)

    def _places(self) -> Tensor:
        return self._buffer.places[: self.padding.size(1)]

    def _room(self, sentences: int) -> Buffer:
        """A buffer for what is here and more; sizes repeat, so that memory just freed can be reused."""
        length, units = self.padding.size(1), self._buffer.places.size(2)
        return Buffer(self._buffer.places.new_empty(max(16, 1 << length.bit_length()), sentences, units), length)
