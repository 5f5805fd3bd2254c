"""Writes a corpus as a folder of text files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from ... import numerics
from ..parallel_text import partial_folder
from . import LONGEST, SHORTEST, SPLITS, Example, generate

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
    (positions ``i-j`` in the tokens); one sentence a line. ``README.md`` describes them;
    ``settings.json`` tells how they were made.

    Its parents are made. The other arguments are those of :func:`.generate`.

    Returns:
        False if the same corpus was there already, and nothing was done.

    Raises:
        ValueError: a wrong argument (see :func:`.generate`).
        FileExistsError: the folder holds something else, such as a corpus made with other settings.
        RuntimeError: the grammar cannot make so many different sentences.
    """
    examples = generate(pair, sizes, seed, min_words=min_words, max_words=max_words)
    settings = {
        "format": numerics.SYNTHETIC,
        "pair": pair,
        "sizes": {split: sizes.get(split, 0) for split in SPLITS},
        "seed": seed,
        "min_words": min_words,
        "max_words": max_words,
    }
    folder = folder.resolve()
    if _is_there(folder, settings):
        return False
    with partial_folder(folder) as partial:
        _fill(partial, settings, examples)
        partial.rename(folder)  # also onto an empty folder
    return True


def _is_there(folder: Path, settings: dict) -> bool:
    """Whether the folder holds the corpus of these settings.

    Raises:
        FileExistsError: it holds something else.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return False
    path = folder / SETTINGS
    if not path.is_file() or json.loads(path.read_text(encoding="utf-8")) != settings:
        raise FileExistsError(
            f"{folder} holds a corpus made with other settings, or something else: remove it or choose another folder"
        )
    return True


def _fill(folder: Path, settings: dict, examples: Iterable[Example]) -> None:
    pair = settings["pair"]
    source, target = pair.split("-")
    endings = ("src", "tgt", source, target, f"{source}.ptb", f"{target}.ptb", f"{pair}.align")
    with ExitStack() as stack:
        files = {
            (split, ending): stack.enter_context(
                (folder / f"{split}.{ending}").open("w", encoding="utf-8", newline="\n")
            )
            for split in SPLITS
            for ending in endings
        }
        for example in examples:
            lines = (
                " ".join(example.source_tokens),
                " ".join(example.target_tokens),
                example.source_text,
                example.target_text,
                str(example.source_tree),
                str(example.target_tree),
                " ".join([f"{i}-{j}" for i, j in example.alignment]),
            )
            for ending, line in zip(endings, lines, strict=True):
                files[example.split, ending].write(line + "\n")
    (folder / "README.md").write_bytes(_describe(settings).encode())
    (folder / SETTINGS).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8", newline="\n")


def _describe(settings: dict) -> str:
    """Returns the text of the corpus's README."""
    pair, sizes = settings["pair"], settings["sizes"]
    source, target = pair.split("-")
    return f"""# {pair}: synthetic sentence pairs with gold trees and alignments

Sentence pairs: {", ".join(f"{sizes[split]} for {split}" for split in reversed(SPLITS))}. Seed {settings["seed"]}, \
{settings["min_words"]} to {settings["max_words"]} tokens a sentence.

One sentence a line in every file:

- `*.src`, `*.tgt`: true-cased tokens, what a model reads and writes;
- `*.{source}`, `*.{target}`: the same sentences as people write them, to score translations against;
- `*.{source}.ptb`, `*.{target}.ptb`: constituents in brackets, the leaves are the tokens;
- `*.{pair}.align`: aligned positions `source-target` in the tokens, from 0.

All sources are different, and no target of valid or test occurs in train.
"""
