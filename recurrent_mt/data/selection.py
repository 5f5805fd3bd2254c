"""Selects the pairs of a corpus that resemble a domain most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ..ordered_map import ordered_map
from ..text_files import find_file
from .domain_scores import LanguageScorer, score_block, tokenize_lines
from .parallel_text import read_blocks
from .partial_files import partial_folder, publish_corpus, refuse_overwriting
from .progress import ProgressLine
from .selection_report import SelectionCounts, as_markdown, collect_numbers

Lines = tuple[list[bytes], list[bytes]]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What to select from and how much."""

    source: Path  # file of the source side
    target: Path  # file of the target side
    languages: tuple[str, str]  # codes of the two sides
    in_domain: Sequence[Path]  # prefixes of parallel text of the domain
    words: int  # how many words of the source to select
    out: Path  # prefix of the two files made
    report: Path  # file for the report; one that ends with .json instead appears beside it
    seed: int = 1  # of the sample that represents the whole corpus
    jobs: int = 1  # processes

    def __post_init__(self) -> None:
        if self.words < 1 or self.jobs < 1:
            raise ValueError("the words to select and the processes must be at least 1")
        refuse_overwriting((self.source, self.target), self.out, self.languages, self.report)


def select(selection: Selection) -> SelectionCounts:
    """Writes the pairs with the lowest differences of cross-entropy, in the order of the corpus, and the report.

    The score of a pair is [H_in(s) − H_gen(s)] + [H_in(t) − H_gen(t)] (Axelrod, He and Gao 2011, after Moore and Lewis
    2010), with trigram models of the domain and of a random sample of the corpus with as many pairs. Memory holds the
    domain, the sample, four models, a few blocks of lines, and 36 bytes for each pair while scores are sorted.

    Raises:
        ValueError: files that do not fit together or are damaged, nothing to select from.
        OSError: a file cannot be read or written.
        RuntimeError: a process died.
    """
    domain = read_domain(selection.in_domain, selection.languages)
    sample, pairs = sample_pairs(selection.source, selection.target, len(domain[0]), selection.seed)
    scorers = [
        LanguageScorer(tokenize_lines(own), tokenize_lines(general))
        for own, general in zip(domain, sample, strict=True)
    ]
    counts = SelectionCounts(
        pairs=pairs,
        in_domain_pairs=len(domain[0]),
        sampled_pairs=len(sample[0]),
        vocabulary=(scorers[0].vocabulary_size, scorers[1].vocabulary_size),
        words_wanted=selection.words,
        seed=selection.seed,
    )
    with partial_folder(selection.out) as folder:
        written = _write(selection, *_score(selection, scorers), folder, counts)
        publish_corpus(
            dict(zip(selection.languages, written, strict=True)),
            selection.out,
            selection.report,
            markdown=as_markdown(selection.out, counts),
            numbers=collect_numbers(counts),
        )
    return counts


def read_domain(prefixes: Sequence[Path], languages: tuple[str, str]) -> Lines:
    """All lines of the domain.

    Raises:
        FileError: a side is missing or damaged.
        ValueError: sides that do not fit together, or no lines.
    """
    source, target = ([find_file(prefix, language) for prefix in prefixes] for language in languages)
    lines: Lines = ([], [])
    for block in read_blocks(source, target):
        lines[0].extend(block.source)
        lines[1].extend(block.target)
    if not lines[0]:
        raise ValueError(f"there is no line in {', '.join(map(str, source))}: the domain needs some")
    return lines


def sample_pairs(source: Path, target: Path, size: int, seed: int) -> tuple[Lines, int]:
    """A uniform random sample of a corpus in one pass (Vitter's algorithm R), and the number of its pairs.

    Raises:
        ValueError: files that do not fit together, or without lines.
    """
    rng = np.random.default_rng(seed)
    sample: Lines = ([], [])
    pairs = 0
    for block in read_blocks([source], [target]):
        # The pair with index i replaces one of those sampled with probability size / (i + 1).
        places = (rng.random(len(block.source)) * np.arange(pairs + 1, pairs + len(block.source) + 1)).astype(int)
        for index in range(len(block.source)) if pairs < size else np.flatnonzero(places < size):
            texts = (block.source[index], block.target[index])
            for side, text in zip(sample, texts, strict=True):
                if pairs + index < size:
                    side.append(text)
                elif places[index] < size:
                    side[places[index]] = text
        pairs += len(block.source)
    if not pairs:
        raise ValueError(f"there is no line in {source}")
    return sample, pairs


def take_lowest(scores: np.ndarray, words: np.ndarray, wanted: int) -> np.ndarray:
    """Which pairs (N,) bool have the lowest scores (N,), the earlier ones of equals.

    As many are taken as have the words wanted, of those of each pair (N,), with the pair that reaches them.
    """
    if words.sum(dtype=np.int64) <= wanted:
        return np.ones(len(scores), bool)
    order = np.argsort(scores, kind="stable")
    before = np.cumsum(words[order], dtype=np.int64) - words[order]
    taken = np.zeros(len(scores), bool)
    taken[order[before < wanted]] = True
    return taken


def _score(selection: Selection, scorers: Sequence[LanguageScorer]) -> tuple[np.ndarray, np.ndarray]:
    """Computes the score and the number of words of every pair."""
    progress = ProgressLine("scoring")
    score = partial(score_block, source=scorers[0], target=scorers[1])
    scores, words = [], []
    for scored in ordered_map(score, read_blocks([selection.source], [selection.target]), selection.jobs):
        scores.append(scored.scores)
        words.append(scored.words)
        progress.update(len(scored.scores), scored.progress)
    progress.finish()
    return np.concatenate(scores), np.concatenate(words)


def _write(
    selection: Selection, scores: np.ndarray, words: np.ndarray, folder: Path, counts: SelectionCounts
) -> list[Path]:
    """Writes the selected pairs and counts them."""
    taken = take_lowest(scores, words, selection.words)
    paths = [folder / "selected.source", folder / "selected.target"]
    with paths[0].open("wb") as source_file, paths[1].open("wb") as target_file:
        for block in read_blocks([selection.source], [selection.target]):
            part = slice(block.first_line - 1, block.first_line - 1 + len(block.source))
            block.write((source_file, target_file), taken[part])
            counts.add(block, scores[part], words[part], taken[part])
    return paths
