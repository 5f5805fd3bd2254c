"""Writes a corpus as a folder of text files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import product
from pathlib import Path

from ... import numerics
from ...text_files import write_aside, write_text
from . import LONGEST, SHORTEST, SPLITS, generate


def write_corpus(folder: Path, pair: str, sizes: Mapping[str, int], seed: int = 1, *, max_words: int = LONGEST) -> None:
    """Makes the files of a corpus, which appear in a folder when all are whole.

    For each split: ``train.src`` and ``train.tgt`` (tokens, true-cased), ``train.fr`` and ``train.en``
    (text as people write it), ``train.fr.ptb`` and ``train.en.ptb`` (trees), ``train.fr-en.align``
    (positions ``i-j`` in the tokens); one sentence a line. ``settings.json`` tells how they were made.

    The folder and its parents are made. The other arguments are those of :func:`.generate`.

    Raises:
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
    source, target = pair.split("-")
    endings = ("src", "tgt", source, target, f"{source}.ptb", f"{target}.ptb", f"{pair}.align")
    with ExitStack() as stack:
        files = {}
        for split, ending in product(SPLITS, endings):
            partial = stack.enter_context(write_aside(folder / f"{split}.{ending}"))
            files[split, ending] = stack.enter_context(partial.open("w", encoding="utf-8", newline="\n"))
        for example in generate(pair, sizes, seed, max_words=max_words):
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
    write_text(folder / "settings.json", json.dumps(settings, indent=2) + "\n")
