"""The one table of results: tidy, a row for each number, whatever counted it.

Scores of whole test sets and of groups of sentences, points of curves, word accuracy, n-best lists, beams, trainings,
trees and alignments are rows of the same columns; a table on the screen or on a page is a query of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

import pandas

ALL = "all"


class Group(StrEnum):
    """Kinds of groups of which there are several, each with a `by` of its own."""

    LENGTH = "length"  # of sentences, each in one group or in none
    CURVE = "length curve"  # points along length, whose groups overlap
    UNKNOWN_WORDS = "unknown words"
    BEAM = "beam"


@dataclass(frozen=True)
class Record:
    """One row; these are the columns."""

    system: str  # its name
    metric: str  # with its unit where it has one: ``BLEU``, ``recall of words, %``, ``parameters``
    value: float | None  # unrounded; None where there is nothing to count
    seed: str = ""  # of the training; empty for the value over all seeds, which every number has
    test_set: str = ""  # its name; empty for the run's own
    #: what sentences (or words) are grouped by: ``source length``, ``unknown words, either``, ``beam, lenpen 1``. It is
    #: a name; what it consists of is in `group`, `side` and `penalty`.
    by: str = ALL
    bucket: str = ALL  # the group
    low: float | None = None  # lower end of the 95% interval
    high: float | None = None  # upper end
    sd: float | None = None  # standard deviation among seeds (n − 1 in the denominator)
    p: float | None = None  # of the difference from the baseline
    n: int = 0  # how many sentences (words, trainings, draws) the value is of
    group: str = ""  # a `Group`; empty where `by` alone says what is grouped
    side: str = ""  # whose words are counted: ``source``, ``reference``, ``both``, ``either``; empty if no side's
    penalty: float | None = None  # of a search: the power of a translation's length that divides its score


NUMBERS = ("value", "low", "high", "sd", "p", "penalty")


def make_frame(records: Iterable[Record]) -> pandas.DataFrame:
    """The records as a table, in their order; None becomes NaN."""
    names = [field.name for field in fields(Record)]
    frame = pandas.DataFrame([[getattr(record, name) for name in names] for record in records], columns=names)
    return frame.astype({**dict.fromkeys(NUMBERS, float), "n": int})


def select(frame: pandas.DataFrame, *, seed: str = "", **columns: Any) -> pandas.DataFrame:
    """The rows with these values in these columns, in order; of the values over all seeds unless a seed is named."""
    for name, value in {"seed": seed, **columns}.items():
        frame = frame[frame[name] == value]
    return frame


def pivot(frame: pandas.DataFrame, rows: str, columns: str, values: str = "value") -> pandas.DataFrame:
    """One column of the records as a grid of two others, which keep the order in which they occur."""
    grid = frame.pivot(index=rows, columns=columns, values=values)
    return grid.reindex(index=frame[rows].unique(), columns=frame[columns].unique())


def plain_rows(frame: pandas.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries, None for NaN."""
    rows = frame.to_dict("records")
    return [{name: None if value != value else value for name, value in row.items()} for row in rows]


def records_as_json(frame: pandas.DataFrame, **context: Any) -> str:
    """The context, then all records, unrounded, one a line: ``pandas.DataFrame(json.load(file)["records"])``."""
    head = json.dumps(context, indent=1, ensure_ascii=False)[1:-1].rstrip()
    rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in plain_rows(frame))
    return f'{{{head}{"," if head else ""}\n "records": [\n  {rows}\n ]\n}}\n'
