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


def write_corpus(folder: Path, pair: str, sizes: Mapping[str, int], seed: int = 1, *, max_words: int = LONGEST) -> bool:
    """Makes a corpus in a folder, which appears whole or not at all.

    For each split: ``train.src`` and ``train.tgt`` (tokens, true-cased), ``train.fr`` and ``train.en``
    (text as people write it), ``train.fr.ptb`` and ``train.en.ptb`` (trees), ``train.fr-en.align``
    (positions ``i-j`` in the tokens); one sentence a line. ``settings.json`` tells how they were made.

    Its parents are made. The other arguments are those of :func:`.generate`.

    Returns:
        False if the same corpus was there already, and nothing was done.

    Raises:
        FileExistsError: the folder holds something else, such as a corpus made with other settings.
        RuntimeError: the grammar cannot make so many different sentences.
    """
    settings = {
        "format": numerics.SYNTHETIC,
        "pair": pair,
        "sizes": {split: sizes.get(split, 0) for split in SPLITS},
        "seed": seed,
        "min_words": SHORTEST,
        "max_words": max_words,
    }
    folder = folder.resolve()
    if _is_there(folder, settings):
        return False
    with partial_folder(folder) as partial:
        _fill(partial, settings, generate(pair, sizes, seed, max_words=max_words))
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
    (folder / SETTINGS).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8", newline="\n")
