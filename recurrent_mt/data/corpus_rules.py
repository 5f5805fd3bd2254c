"""Rules that need every pair at once, told by a few numbers of each pair, which wait on disk.

A rule writes its code into ``verdicts`` (N,) uint8 where a pair goes; where another than 0 is, it has gone before. A
new one is a function here and an entry in :data:`CORPUS_RULES`; the report finds it there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from .rules import Rule

#: What is known of a pair: a hash of both sides, and how many bytes they have. 16 bytes on disk.
RECORD = np.dtype([("hash", "<u8"), ("source", "<u4"), ("target", "<u4")])

# Four megabytes at a time.
_CHUNK = 1 << 18

# The median of the absolute deviations of a normal distribution, in standard deviations.
_MAD_OF_NORMAL = 0.6745


def pair_record(source: str, target: str) -> tuple[int, int, int]:
    """The values of a :data:`RECORD`: pairs that differ in case alone have the same hash."""
    text = f"{source}\n{target}".casefold().encode()
    digest = int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
    return digest, len(source.encode()), len(target.encode())


def mark_misaligned(records: Path, verdicts: np.ndarray, code: int, *, max_deviations: float, min_pairs: int) -> None:
    """Gale and Church (1993), with a mean and a deviation that are robust (see :class:`LengthModel`).

    Lengths are in bytes of UTF-8: a Han character has three and is worth about three letters, so that Latin names
    in a Chinese line do not make it look long. Translations are freer than a normal distribution has it: six
    deviations, not three. Fewer than ``min_pairs`` pairs tell no deviation to trust, and all pass.
    """
    if len(verdicts) < min_pairs:
        return
    model = fit_lengths(records, len(verdicts))
    for first, chunk in _chunks(records):
        deviations = model.deviations(chunk["source"].astype(float), chunk["target"].astype(float))
        part = verdicts[first : first + len(chunk)]
        part[(part == 0) & (deviations > max_deviations)] = code


def mark_duplicates(records: Path, verdicts: np.ndarray, code: int, *, bucket_pairs: int) -> None:
    """The first of several stays.

    Pairs are dealt to files by their hash, so that the same pairs meet in one that fits into memory. Two different
    pairs of a hundred million have the same 64 bits with a probability of 0.0003.
    """
    buckets = min(512, -(-len(verdicts) // bucket_pairs))
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
    """Gale and Church (1993): a unit of source length gives rise to ``ratio`` of the target, with a variance."""

    ratio: float  # their c
    variance: float  # their s squared, for each unit of source length

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


def _chunks(records: Path) -> Iterator[tuple[int, np.ndarray]]:
    first = 0
    with records.open("rb") as file:
        while len(chunk := np.fromfile(file, RECORD, _CHUNK)):
            yield first, chunk
            first += len(chunk)


#: In order; each is called with the records, verdicts and its number.
CORPUS_RULES = (
    Rule(
        "misaligned",
        "lengths in bytes that are not those of a translation in this corpus",
        mark_misaligned,
        {"max_deviations": 6.0, "min_pairs": 1000},
    ),
    Rule("duplicate", "the same pair, but for case, comes earlier", mark_duplicates, {"bucket_pairs": 1 << 19}),
)
