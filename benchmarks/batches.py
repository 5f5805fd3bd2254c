"""Made-up batches: lengths like those of corpora and fairseq's batches, random words."""

from __future__ import annotations

from typing import Any

import torch
from fairseq.data import Dictionary
from fairseq.data.language_pair_dataset import collate


def draw_lengths(sentences: int, longest: int, kind: str, *, seed: int) -> list[int]:
    """Lengths, the longest one first.

    They are all ``equal``; or ``alike``, up to a fifth shorter than the longest, as in fairseq's batches of similar
    sentences; or ``mixed``, from 5 to the longest, evenly.
    """
    least = {"equal": longest, "alike": max(1, longest * 4 // 5), "mixed": min(5, longest)}[kind]
    generator = torch.Generator().manual_seed(seed)
    return [longest, *torch.randint(least, longest + 1, (sentences - 1,), generator=generator).tolist()]


def dictionary(size: int) -> Dictionary:
    """A dictionary of this size, including fairseq's symbols."""
    result = Dictionary()
    for word in range(size - result.nspecial):
        result.add_symbol(f"w{word}", n=size - word)
    return result


def make_sample(vocabulary: Dictionary, *, sentences: int, length: int, lengths: str, seed: int = 1) -> dict[str, Any]:
    """A batch of sentence pairs, collated by fairseq; lengths count the end symbol.

    Args:
        vocabulary: for both languages.
        sentences: B.
        length: the longest source's and the longest target's.
        lengths: as in :func:`draw_lengths`, for either side.
        seed: for lengths and words.
    """
    generator = torch.Generator().manual_seed(seed)
    sources = draw_lengths(sentences, length, lengths, seed=seed)
    targets = draw_lengths(sentences, length, lengths, seed=seed + 1)

    def words(count: int) -> torch.Tensor:
        drawn = torch.randint(vocabulary.nspecial, len(vocabulary), (count - 1,), generator=generator)
        return torch.cat([drawn, torch.tensor([vocabulary.eos()])])

    pairs = [
        {"id": row, "source": words(source), "target": words(target)}
        for row, (source, target) in enumerate(zip(sources, targets))
    ]
    return collate(pairs, pad_idx=vocabulary.pad(), eos_idx=vocabulary.eos(), left_pad_source=True)


def source_lengths(sample: dict[str, Any]) -> list[int]:
    """The lengths of a batch's sources."""
    return sample["net_input"]["src_lengths"].tolist()


def target_lengths(sample: dict[str, Any], vocabulary: Dictionary) -> list[int]:
    """The lengths of a batch's targets."""
    return sample["target"].ne(vocabulary.pad()).sum(dim=1).tolist()
