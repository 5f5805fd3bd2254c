"""Selects the pairs of a corpus that resemble a domain most, and reports on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from ..characters import normalize
from ..ordered_map import ordered_map
from ..text_files import find_file
from .ngrams import FIRST_WORD, UNKNOWN, NgramModel
from .parallel_text import (
    PAUSE,
    Block,
    check_outputs,
    name_sides,
    read_blocks,
    write_report,
    write_sides,
)
from .reports import table
from .words import lowercase_tokens

# Rarer words of the domain are as unknown to its model as those it has never seen.
_MIN_COUNT = 2


def tokenize_lines(lines: Iterable[bytes]) -> list[list[str]]:
    """Tokenizes raw lines as the language model expects them."""
    return [lowercase_tokens(normalize(line.decode(errors="replace"))) for line in lines]


class LanguageScorer:
    """The difference of cross-entropies of one side (Moore and Lewis 2010).

    Both models know the same words, those that occur twice in the domain: what the domain never says must not look
    cheaper to one of them. They learn from tokens of the domain's sentences and of a sample of the corpus.

    Raises:
        ValueError: no word occurs twice in the domain.
    """

    def __init__(self, domain: Sequence[Sequence[str]], general: Sequence[Sequence[str]]) -> None:
        counts = Counter(token for sentence in domain for token in sentence)
        frequent = sorted(token for token, count in counts.items() if count >= _MIN_COUNT)
        if not frequent:
            raise ValueError(f"no word occurs {_MIN_COUNT} times in the in-domain text: give more of it")
        self._numbers = {token: number for number, token in enumerate(frequent, start=FIRST_WORD)}
        self.vocabulary_size = len(frequent)
        self._domain, self._general = (
            NgramModel(self._numbered(sentences), FIRST_WORD + len(frequent)) for sentences in (domain, general)
        )

    def differences(self, sentences: Sequence[Sequence[str]]) -> np.ndarray:
        """H_domain − H_general in bits a word, ends of sentences counted as words (sentences,)."""
        numbered = self._numbered(sentences)
        lengths = np.array([len(sentence) + 1 for sentence in numbered])
        return (self._general.log_probabilities(numbered) - self._domain.log_probabilities(numbered)) / lengths

    def _numbered(self, sentences: Iterable[Sequence[str]]) -> list[list[int]]:
        get = self._numbers.get
        return [[get(token, UNKNOWN) for token in sentence] for sentence in sentences]


def score_block(block: Block, source: LanguageScorer, target: LanguageScorer) -> tuple[np.ndarray, np.ndarray]:
    """The differences of both sides, added (Axelrod, He and Gao 2011): float32; and how many tokens the sources have.

    The lower the score of a pair, the more is it like the domain.
    """
    source_tokens, target_tokens = tokenize_lines(block.source), tokenize_lines(block.target)
    scores = source.differences(source_tokens) + target.differences(target_tokens)
    return scores.astype("<f4"), np.array([len(line) for line in source_tokens], "<u4")


def as_markdown(out: Path, report: dict[str, Any]) -> str:
    """Formats the report as Markdown."""
    others = report["pairs"] - report["selected_pairs"]
    other_words = report["words"] - report["selected_words"]
    score, other_score = (f"{report[name]:.3f}" for name in ("mean_score_selected", "mean_score_others"))
    rows = [
        ("corpus", f"{report['pairs']:,}", f"{report['words']:,}", ""),
        ("selected", f"{report['selected_pairs']:,}", f"{report['selected_words']:,}", score),
        ("others", f"{others:,}", f"{other_words:,}", other_score),
    ]
    everything = "" if others else " The corpus has no more: all of it is selected."
    return f"""# Selection of {out.name}

{report["words_wanted"]:,} words of the source were asked for.{everything}

{table(("", "pairs", "source words", "mean score"), rows)}

A score is the difference of cross-entropies in bits a word, in-domain less general, source and target added; the lowest
are selected, up to {report["highest_selected"]:.3f}. Words are tokens, punctuation among them; in Chinese, characters.

- In-domain models: {report["in_domain_pairs"]:,} pairs.
- General models: {report["sampled_pairs"]:,} pairs of the corpus, seed {report["seed"]}.
- Words that the models know: {report["vocabulary"][0]:,} of the source, {report["vocabulary"][1]:,} of the target.
"""


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
        read = (self.source, self.target, *name_sides(self.in_domain, self.languages))
        check_outputs(read, self.out, self.languages, self.report)


def select(selection: Selection) -> dict[str, Any]:
    """Writes the pairs with the lowest differences of cross-entropy, in the order of the corpus, and the report.

    The score of a pair is [H_in(s) − H_gen(s)] + [H_in(t) − H_gen(t)] (Axelrod, He and Gao 2011, after Moore and Lewis
    2010), with trigram models of the domain and of a random sample of the corpus with as many pairs. Memory holds the
    domain, the sample, four models, a few blocks of lines, and 36 bytes for each pair while scores are sorted.

    Returns:
        The numbers of the report.

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
    scores, words = _score(selection, scorers)
    taken = take_lowest(scores, words, selection.words)
    with write_sides(selection.out, selection.languages) as sides:
        for block in read_blocks([selection.source], [selection.target]):
            first = block.first_line - 1
            block.write(sides, taken[first : first + len(block.source)])
    report = {
        "pairs": pairs,
        "in_domain_pairs": len(domain[0]),
        "sampled_pairs": len(sample[0]),
        "vocabulary": [scorer.vocabulary_size for scorer in scorers],
        "words_wanted": selection.words,
        "seed": selection.seed,
        "words": int(words.sum(dtype=np.int64)),
        "selected_pairs": int(taken.sum()),
        "selected_words": int(words[taken].sum(dtype=np.int64)),
        "highest_selected": float(scores[taken].max()),
        "mean_score_selected": float(scores[taken].mean(dtype=float)),
        "mean_score_others": 0.0 if taken.all() else float(scores[~taken].mean(dtype=float)),
    }
    write_report(selection.report, as_markdown(selection.out, report), report)
    return report


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
    score = partial(score_block, source=scorers[0], target=scorers[1])
    blocks = read_blocks([selection.source], [selection.target])
    scored = []
    with tqdm(desc="scoring", unit=" pairs", mininterval=PAUSE) as progress:
        for found in ordered_map(score, blocks, selection.jobs):
            scored.append(found)
            progress.update(len(found[0]))
    scores, words = map(np.concatenate, zip(*scored))
    return scores, words
