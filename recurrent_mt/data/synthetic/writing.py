"""Writes a corpus as a folder of text files."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from .generation import LONGEST, SHORTEST, SPLITS, Example, check, generate

# To be raised when the same settings make other sentences, or other files.
FORMAT = 1
SETTINGS = "settings.json"


def write_corpus(
    folder: Path,
    pair: str,
    sizes: Mapping[str, int],
    seed: int = 1,
    *,
    min_words: int = SHORTEST,
    max_words: int = LONGEST,
) -> bool:
    """Makes a corpus in a folder, which appears whole or not at all.

    For each split: ``train.src`` and ``train.tgt`` (tokens, true-cased), ``train.fr`` and ``train.en``
    (text as people write it), ``train.fr.ptb`` and ``train.en.ptb`` (trees), ``train.fr-en.align``
    (positions ``i-j`` in the tokens); one sentence a line. ``README.md`` counts them; ``settings.json``
    tells how they were made.

    Args:
        folder: where the corpus will be; its parents are made.
        pair: a language pair.
        sizes: how many sentence pairs for each split.
        seed: a non-negative integer.
        min_words: the fewest tokens of a sentence.
        max_words: the most.

    Returns:
        False if the same corpus was there already, and nothing was done.

    Raises:
        ValueError: a wrong argument (see :func:`.generate`).
        FileExistsError: the folder holds something else, or a corpus made with other settings.
        RuntimeError: the grammar cannot make so many different sentences.
    """
    check(pair, sizes, seed, min_words=min_words, max_words=max_words)
    settings = {
        "format": FORMAT,
        "pair": pair,
        "sizes": {split: sizes.get(split, 0) for split in SPLITS},
        "seed": seed,
        "min_words": min_words,
        "max_words": max_words,
    }
    folder = folder.resolve()
    if _is_there(folder, settings):
        return False
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        _fill(aside, pair, settings)
        aside.chmod(0o755)
        os.replace(aside, folder)  # also onto an empty folder
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return True


def _is_there(folder: Path, settings: dict) -> bool:
    """Whether the folder holds the corpus of these settings.

    Raises:
        FileExistsError: it holds something else.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    path = folder / SETTINGS
    if not path.is_file():
        raise FileExistsError(
            f"{folder} exists and is no corpus made here ({SETTINGS} is missing): choose another folder"
        )
    found = json.loads(path.read_text(encoding="utf-8"))
    if found != settings:
        different = sorted(name for name in {*settings, *found} if settings.get(name) != found.get(name))
        told = ", ".join(f"{name} {found.get(name)} instead of {settings.get(name)}" for name in different)
        raise FileExistsError(
            f"{folder} holds a corpus made with other settings ({told}): remove it or choose another folder"
        )
    return True


def _fill(folder: Path, pair: str, settings: dict) -> None:
    counts = {split: _Counts() for split in SPLITS}
    lengths = {"min_words": settings["min_words"], "max_words": settings["max_words"]}
    with ExitStack() as stack:
        files = {split: _SplitFiles(folder, split, pair, stack) for split in SPLITS}
        for example in generate(pair, settings["sizes"], settings["seed"], **lengths):
            files[example.split].write(example)
            counts[example.split].add(example)
    _write(folder / "README.md", _summary(pair, settings, counts))
    _write(folder / SETTINGS, json.dumps(settings, indent=2) + "\n")


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))


class _SplitFiles:
    """The seven files of a split, which the stack closes."""

    def __init__(self, folder: Path, split: str, pair: str, stack: ExitStack) -> None:
        source, target = pair.split("-")
        endings = ("src", "tgt", source, target, f"{source}.ptb", f"{target}.ptb", f"{pair}.align")
        self._files: list[IO[str]] = []
        for ending in endings:
            path = folder / f"{split}.{ending}"
            self._files.append(stack.enter_context(path.open("w", encoding="utf-8", newline="\n")))

    def write(self, example: Example) -> None:
        """Writes one line to each file."""
        lines = (
            " ".join(example.source_tokens),
            " ".join(example.target_tokens),
            example.source_text,
            example.target_text,
            str(example.source_tree),
            str(example.target_tree),
            " ".join([f"{i}-{j}" for i, j in example.alignment]),
        )
        for file, line in zip(self._files, lines):
            file.write(line + "\n")


class _Counts:
    """Counts of one split: sentences, and tokens by type on each side."""

    def __init__(self) -> None:
        self.sentences = 0
        self.types: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, example: Example) -> None:
        """Counts one sentence pair."""
        self.sentences += 1
        self.types[0].update(example.source_tokens)
        self.types[1].update(example.target_tokens)


def _summary(pair: str, settings: dict, counts: dict[str, _Counts]) -> str:
    """Returns the text of the corpus's README."""
    source, target = pair.split("-")
    columns = (
        "split",
        "side",
        "sentences",
        "tokens",
        "a sentence",
        "types",
        "seen once",
        "tokens unseen in train",
    )
    table = [columns, ("---",) * len(columns)]
    for split in reversed(SPLITS):
        for side, language in enumerate((source, target)):
            types, train = counts[split].types[side], counts["train"].types[side]
            tokens, sentences = sum(types.values()), counts[split].sentences
            once = sum(count == 1 for count in types.values())
            unseen = sum(count for token, count in types.items() if token not in train)
            mean = f"{tokens / sentences if sentences else 0:.1f}"
            numbers = (sentences, tokens, mean, len(types), once, unseen)
            table.append((split, language, *map(str, numbers)))
    rows = "\n".join(f"| {' | '.join(row)} |" for row in table)
    return f"""# {pair}: synthetic sentence pairs with gold trees and alignments

Seed {settings["seed"]}, {settings["min_words"]} to {settings["max_words"]} tokens a sentence.

{rows}

One sentence a line in every file:

- `*.src`, `*.tgt`: true-cased tokens, what a model reads and writes;
- `*.{source}`, `*.{target}`: the same sentences as people write them, to score translations against;
- `*.{source}.ptb`, `*.{target}.ptb`: constituents in brackets, the leaves are the tokens;
- `*.{pair}.align`: aligned positions `source-target` in the tokens, from 0.

All sources are different, and no target of valid or test occurs in train.
"""
