"""Rules that need every pair at once, told by a few numbers of each pair, which wait on disk.

A new rule is a class here and an entry in :func:`corpus_rules`; the report finds it there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np

#: What is known of a pair: a hash of both sides, and how many bytes they have. 16 bytes on disk.
RECORD = np.dtype([("hash", "<u8"), ("source", "<u4"), ("target", "<u4")])

# Four megabytes at a time.
_CHUNK = 1 << 18

# The median of the absolute deviations of a normal distribution, in standard deviations.
_MAD_OF_NORMAL = 0.6745


class CorpusRule(Protocol):
    """What cleaning and the report need; fields are printed as parameters."""

    name: ClassVar[str]
    reason: ClassVar[str]

    def mark(self, records: Path, verdicts: np.ndarray, code: int) -> None:
        """Writes ``code`` into ``verdicts`` (N,) uint8 where a pair goes; of others than 0, it has gone before."""


def pair_record(source: str, target: str) -> tuple[int, int, int]:
    """The values of a :data:`RECORD`: pairs that differ in case alone have the same hash."""
    text = f"{source}\n{target}".casefold().encode()
    digest = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
    return digest, len(source.encode()), len(target.encode())


@dataclass(frozen=True)
class Misaligned:
    """Gale and Church (1993), with a mean and a deviation that are robust (see :class:`LengthModel`).

    Lengths are in bytes of UTF-8: a Han character has three and is worth about three letters, so that Latin names
    in a Chinese line do not make it look long. Translations are freer than a normal distribution has it: six
    deviations, not three. Fewer than ``min_pairs`` pairs tell no deviation to trust, and all pass.
    """

    name: ClassVar[str] = "misaligned"
    reason: ClassVar[str] = "lengths in bytes that are not those of a translation in this corpus"
    max_deviations: float = 6.0
    min_pairs: int = 1000

    def mark(self, records: Path, verdicts: np.ndarray, code: int) -> None:
        """See :class:`CorpusRule`."""
        if len(verdicts) < self.min_pairs:
            return
        model = fit_lengths(records, len(verdicts))
        for first, chunk in _chunks(records):
            deviations = model.deviations(chunk["source"].astype(float), chunk["target"].astype(float))
            part = verdicts[first : first + len(chunk)]
            part[(part == 0) & (deviations > self.max_deviations)] = code


@dataclass(frozen=True)
class Duplicate:
    """The first of several stays.

    Pairs are dealt to files by their hash, so that the same pairs meet in one that fits into memory. Two different
    pairs of a hundred million have the same 64 bits with a probability of 0.0003.
    """

    name: ClassVar[str] = "duplicate"
    reason: ClassVar[str] = "the same pair, but for case, comes earlier"
    bucket_pairs: int = 1 << 19

    def mark(self, records: Path, verdicts: np.ndarray, code: int) -> None:
        """See :class:`CorpusRule`."""
        buckets = min(512, -(-len(verdicts) // self.bucket_pairs))
        paths = [records.with_name(f"{records.name}.{bucket}") for bucket in range(buckets)]
        with ExitStack() as stack:
            files = [stack.enter_context(path.open("wb")) for path in paths]
            for first, chunk in _chunks(records):
                there = np.flatnonzero(verdicts[first : first + len(chunk)] == 0)
                entries = np.stack([chunk["hash"][there], (there + first).astype("<u8")], axis=1)
                # The low bits choose the bucket, all of them the order in it.
                bucket_of = entries[:, 0] % np.uint64(buckets)
                for bucket, file in enumerate(files):
                    entries[bucket_of == bucket].tofile(file)
        for path in paths:
            hashes, indices = np.fromfile(path, "<u8").reshape(-1, 2).T
            # Stable: among equal hashes the earliest pair comes first.
            order = np.argsort(hashes, kind="stable")
            repeated = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]]) + 1
            verdicts[indices[order[repeated]]] = code
            path.unlink()


@dataclass(frozen=True)
class LengthModel:
    """Gale and Church (1993): a unit of source length gives rise to ``ratio`` of the target, with a variance.

    Attributes:
        ratio: their c.
        variance: their s squared, for each unit of source length.
    """

    ratio: float
    variance: float

    @classmethod
    def fit(cls, source: np.ndarray, target: np.ndarray) -> LengthModel:
        """From lengths of pairs (N,), by medians, which misaligned pairs hardly move.

        Raises:
            ValueError: no pairs.
        """
        if not len(source):
            raise ValueError("there is no pair to fit lengths to")
        ratio = float(np.median(target / source))
        deviation = np.median(np.abs(_scaled(source, target, ratio))) / _MAD_OF_NORMAL
        # Where most pairs have the very same ratio, one more or less in a hundred is still no error.
        return cls(ratio, max(float(deviation) ** 2, 0.01))

    def deviations(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """How many standard deviations each target is from the length expected: their delta, unsigned (N,)."""
        return np.abs(_scaled(source, target, self.ratio)) / self.variance**0.5


def _scaled(source: np.ndarray, target: np.ndarray, ratio: float) -> np.ndarray:
    """Differences from the expected length over the root of the length, the mean of both sides' (symmetric)."""
    return (target - ratio * source) / np.sqrt((source + target / ratio) / 2)


def fit_lengths(records: Path, count: int, sample: int = _CHUNK) -> LengthModel:
    """The lengths of a corpus, from pairs at equal distances, at most ``sample`` of them."""
    step = -(-count // sample)
    lengths = [
        np.stack([chunk["source"], chunk["target"]])[:, -first % step :: step].astype(float)
        for first, chunk in _chunks(records)
    ]
    return LengthModel.fit(*np.concatenate(lengths, axis=1))


def corpus_rules() -> tuple[CorpusRule, ...]:
    """The rules, in order."""
    return (Misaligned(), Duplicate())


def _chunks(records: Path) -> Iterator[tuple[int, np.ndarray]]:
    first = 0
    with records.open("rb") as file:
        while len(chunk := np.fromfile(file, RECORD, _CHUNK)):
            yield first, chunk
            first += len(chunk)
