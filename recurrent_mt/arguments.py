"""Options that several tools share, those of the plug-in too: numbers, processes, parallel text, named systems."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import partial
from os.path import isfile
from pathlib import Path
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def positive(text: str) -> int:
    """Reads a whole number above zero."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return int(text)


def natural(text: str) -> int:
    """Reads a whole number, zero too: what a seed may be."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a whole number, 0 or above")
    return int(text)


def whole_numbers(text: str) -> list[int]:
    """Reads a list of whole numbers between commas."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a list of whole numbers like 10,20,30") from None


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def add_jobs_argument(parser: ArgumentParser, what: str = "processes that count") -> None:
    """Adds ``--jobs``, which changes the speed but no result."""
    parser.add_argument("--jobs", type=positive, default=processors(), metavar="N", help=f"{what} (all processors)")


def add_parallel_text_arguments(parser: ArgumentParser, several: bool = False) -> None:
    """Adds files of parallel text (several a side, perhaps), languages, output, report, and ``--jobs``."""
    help_text = "plain, .gz, .xz or .bz2, in order" if several else "plain, .gz, .xz or .bz2"
    for side in ("source", "target"):
        parser.add_argument(
            f"--{side}", type=Path, nargs="+" if several else None, required=True, metavar="FILE", help=help_text
        )
    for side in ("source", "target"):
        parser.add_argument(f"--{side}-lang", required=True, metavar="CODE", help="as in fr, fr_CA, zho_Hans")
    parser.add_argument("--out", type=Path, required=True, metavar="PREFIX", help="output files are PREFIX.CODE")
    parser.add_argument("--report", type=Path, required=True, metavar="FILE.md", help="FILE.json is written next to it")
    add_jobs_argument(parser, "processes")


def add_reference_argument(parser: Any) -> None:
    """Adds ``--reference``, which may be given several times."""
    parser.add_argument(
        "--reference",
        action="append",
        default=[],
        metavar="FILE",
        help="raw references, one sentence per line; repeatable: scores are against all, as sacrebleu's, and words and "
        "lengths are counted in the first",
    )


def add_metrics_argument(parser: Any, known: Collection[str], default: Sequence[str]) -> None:
    """Adds ``--metrics`` to a parser or a group of it."""
    parser.add_argument(
        "--metrics",
        type=partial(metric_names, known),
        default=default,
        metavar="NAME,…",
        help=f"any of {','.join(known)}; meteor needs nltk (default: {','.join(default)})",
    )


def metric_names(known: Collection[str], text: str) -> list[str]:
    """Reads names of metrics separated by commas."""
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in known:
            raise ArgumentTypeError(f"unknown metric {name!r}: choose from {', '.join(known)}")
    return names


def refuse_options(options: Namespace, names: Sequence[str], why: str) -> None:
    """Ends the tool with a message if one of these options is given, which would have no effect."""
    for name in names:
        if getattr(options, name):
            options.parser.error(f"--{name.replace('_', '-')} {why}")


def make_settings(kind: type[Kind], options: Namespace, **others: Any) -> Kind:
    """The settings of a dataclass whose fields are named like options; those that are not are given."""
    names = [field.name for field in fields(kind) if field.name not in others]  # type: ignore[arg-type]
    return kind(**{name: getattr(options, name) for name in names}, **others)


def split_named(
    parser: ArgumentParser, values: Sequence[str], form: str = "NAME=FILE", option: str = "--system"
) -> list[tuple[str, str]]:
    """Each value of an option in two; ends the tool with a message for one of another form, and for two of one name.

    A name may have an equals sign of its own, as an experiment's `gru_encoder+dropout=0.3` has: the first one counts
    that has an existing file to its right, or a number.
    """
    pairs = [split_name(value) for value in values]
    for value, pair in zip(values, pairs):
        if not all(pair):
            parser.error(f"{option} must be {form}, not '{value}'")
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            parser.error(f"{option} {name} is given twice")
    return pairs


def split_name(value: str) -> tuple[str, str]:
    """``NAME=VALUE`` in two; see `split_named`."""
    signs = [place for place, letter in enumerate(value) if letter == "="]
    pairs = [(value[:place], value[place + 1 :]) for place in signs]
    return next((pair for pair in pairs if is_value(pair[1])), pairs[0] if pairs else (value, ""))


def is_value(text: str) -> bool:
    """Whether it names files, the first of which exists, or is a number."""
    with suppress(ValueError):
        float(text)
        return True
    # What is too long or has a null character is no file.
    with suppress(OSError, ValueError):
        return bool(text) and Path(split_files(text)[0]).exists()
    return False


def split_files(text: str) -> list[str]:
    """Files between commas, or one whose own name has them."""
    return [text] if isfile(text) else text.split(",")


def language_pair(text: str) -> tuple[str, str]:
    """Splits a pair such as ``fr-en`` into its two languages."""
    if not re.fullmatch(r"[A-Za-z_]+-[A-Za-z_]+", text):
        raise ArgumentTypeError(f"'{text}' is not a pair like fr-en")
    source, target = text.split("-")
    if source == target:
        raise ArgumentTypeError(f"'{text}' has one language twice: its sides would be one file")
    return source, target
