"""Applies the rules for single pairs to a block of lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .corpus_rules import RECORD, pair_record
from .parallel_text import Block
from .rules import Rule, SentencePair
from .words import normalize


class CleanedBlock(NamedTuple):
    """What is left of a block, and what happened to the rest.

    Attributes:
        file: the number of the pair of files.
        progress: as the block has it.
        seen: pairs.
        normalized: pairs that normalization changed.
        source: lines left, with newlines.
        target: the same of the other side.
        records: of the pairs left, as bytes (see :data:`.RECORD`).
        dropped: pairs that each rule dropped.
        examples: the first of them: number of the rule, of the line, and both texts.
        broken: for each side, numbers of lines that are not UTF-8.
    """

    file: int
    progress: float
    seen: int
    normalized: int
    source: bytes
    target: bytes
    records: bytes
    dropped: list[int]
    examples: list[tuple[int, int, str, str]]
    broken: tuple[list[int], list[int]]


class BlockCleaner:
    """Normalizes the pairs of blocks and drops those that a rule drops."""

    def __init__(self, rules: Sequence[Rule], languages: tuple[str, str], max_examples: int) -> None:
        self._rules = rules
        self._languages = languages
        self._max_examples = max_examples

    def __call__(self, block: Block) -> CleanedBlock:
        """Cleans one block."""
        source: list[str] = []
        target: list[str] = []
        dropped = [0] * len(self._rules)
        examples = []
        broken: tuple[list[int], list[int]] = ([], [])
        normalized = 0
        for line, raw in enumerate(zip(block.source, block.target, strict=True), start=block.first_line):
            texts = [self._decode(side, places, line) for side, places in zip(raw, broken, strict=True)]
            pair = SentencePair(normalize(texts[0]), normalize(texts[1]), self._languages)
            normalized += pair.source != texts[0] or pair.target != texts[1]
            rule = self._first_rule(pair)
            if rule is None:
                source.append(pair.source)
                target.append(pair.target)
                continue
            dropped[rule] += 1
            if dropped[rule] <= self._max_examples:
                examples.append((rule, line, pair.source, pair.target))
        records = np.array([pair_record(*pair) for pair in zip(source, target, strict=True)], RECORD)
        return CleanedBlock(
            block.file,
            block.progress,
            len(block.source),
            normalized,
            "".join(f"{text}\n" for text in source).encode(),
            "".join(f"{text}\n" for text in target).encode(),
            records.tobytes(),
            dropped,
            examples,
            broken,
        )

    def _first_rule(self, pair: SentencePair) -> int | None:
        for index, rule in enumerate(self._rules):
            if rule.drops(pair):
                return index
        return None

    @staticmethod
    def _decode(line: bytes, places: list[int], number: int) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            places.append(number)
            return line.decode(errors="replace")
