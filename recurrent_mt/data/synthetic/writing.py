"""Writes a corpus as a folder of text files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from ..parallel_text import partial_folder
from ..reports import table
from . import LONGEST, SHORTEST, SPLITS, Example, generate

# To be raised when the same settings make other sentences, or other files.
FORMAT = 1
SETTINGS = "settings.json"
COLUMNS = ("split", "side", "sentences", "tokens", "a sentence", "types", "seen once", "tokens unseen in train")


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

    Its parents are made. The other arguments are those of :func:`.generate`.

    Returns:
        False if the same corpus was there already, and nothing was done.

    Raises:
        ValueError: a wrong argument (see :func:`.generate`).
        FileExistsError: the folder holds something else, or a corpus made with other settings.
        RuntimeError: the grammar cannot make so many different sentences.
    """
    examples = generate(pair, sizes, seed, min_words=min_words, max_words=max_words)
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
    if not path.is_file():
        raise FileExistsError(
            f"{folder} exists and is no corpus made here ({SETTINGS} is missing): choose another folder"
        )
    found = json.loads(path.read_text(encoding="utf-8"))
    different = sorted(name for name in {*settings, *found} if settings.get(name) != found.get(name))
    if different:
        told = ", ".join(f"{name} {found.get(name)} instead of {settings.get(name)}" for name in different)
        raise FileExistsError(
            f"{folder} holds a corpus made with other settings ({told}): remove it or choose another folder"
        )
    return True


def _fill(folder: Path, settings: dict, examples: Iterable[Example]) -> None:
    pair = settings["pair"]
    source, target = pair.split("-")
    endings = ("src", "tgt", source, target, f"{source}.ptb", f"{target}.ptb", f"{pair}.align")
    #: Tokens by type, for each split and side.
    types = {(split, language): Counter[str]() for split in SPLITS for language in (source, target)}
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
            types[example.split, source].update(example.source_tokens)
            types[example.split, target].update(example.target_tokens)
    (folder / "README.md").write_bytes(_describe(settings, types).encode())
    (folder / SETTINGS).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8", newline="\n")


def _describe(settings: dict, types: Mapping[tuple[str, str], Counter[str]]) -> str:
    """Returns the text of the corpus's README."""
    pair = settings["pair"]
    source, target = pair.split("-")
    rows = []
    for split in reversed(SPLITS):
        for language in (source, target):
            counts, train, sentences = types[split, language], types["train", language], settings["sizes"][split]
            mean = f"{counts.total() / sentences if sentences else 0:.1f}"
            once = sum(count == 1 for count in counts.values())
            unseen = sum(count for token, count in counts.items() if token not in train)
            rows.append((split, language, *map(str, (sentences, counts.total(), mean, len(counts), once, unseen))))
    return f"""# {pair}: synthetic sentence pairs with gold trees and alignments

Seed {settings["seed"]}, {settings["min_words"]} to {settings["max_words"]} tokens a sentence.

{table(COLUMNS, rows)}

One sentence a line in every file:

- `*.src`, `*.tgt`: true-cased tokens, what a model reads and writes;
- `*.{source}`, `*.{target}`: the same sentences as people write them, to score translations against;
- `*.{source}.ptb`, `*.{target}.ptb`: constituents in brackets, the leaves are the tokens;
- `*.{pair}.align`: aligned positions `source-target` in the tokens, from 0.

All sources are different, and no target of valid or test occurs in train.
"""
