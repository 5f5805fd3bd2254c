"""The values that options of an experiment take: numbers, paths, names, and lists of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, WrapValidator


def written(pattern: str, what: str) -> AfterValidator:
    """Text that matches a pattern; ``what`` says in words which text does."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"must be {what}")
        return text

    return AfterValidator(check)


def keep_whole(value: Any, check: Callable[[Any], Any]) -> Any:
    """A whole number stays one, and 2.0 stays 2.0: results are named after what was written."""
    checked = check(value)
    return int(value) if re.fullmatch("[0-9]+", str(value)) else checked


def check_distinct(values: list[Any]) -> list[Any]:
    """Refuses a list that has something twice."""
    if len(set(values)) < len(values):
        raise ValueError("must have each value once")
    return values


def check_single(value: Any) -> Any:
    """Refuses what a command line cannot have as the value of one option."""
    if not isinstance(value, str | int | float | None):
        raise ValueError("must be one value: true for a flag without one")
    return value


def refuse_truth(value: Any) -> Any:
    """Refuses ``yes`` where a number belongs, which YAML reads as true, and pydantic as 1."""
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


WHOLE = WrapValidator(keep_whole)
DISTINCT = AfterValidator(check_distinct)
NUMBER = BeforeValidator(refuse_truth)
Positive = Annotated[int, Field(ge=1), NUMBER]
Minutes = Annotated[float, Field(ge=0.001), WHOLE, NUMBER]
Probability = Annotated[float, Field(ge=0, lt=1), WHOLE, NUMBER]
Exponent = Annotated[float, Field(ge=0), WHOLE, NUMBER]
Seed = Annotated[int, Field(ge=0), NUMBER]
Rate = Annotated[str, written(r"([0-9]+\.?[0-9]*|\.[0-9]+)(e-?[0-9]+)?", "a number")]
Words = Annotated[str, written("[1-9][0-9]*[kMG]?", "a number of words such as 348M"), WHOLE]

# No character that fairseq takes for something else, and none but spaces that a shell does; those are quoted.
PATH = r"[\w./~+@%-]+( +[\w./~+@%-]+)*"
PLACE = "a path of letters, digits, spaces, and ._/~+@%-"
Place = Annotated[str, written(PATH, PLACE)]
Places = Annotated[str, written(f"{PATH}(,{PATH})*", PLACE)]
Pattern = Annotated[str, written(PATH.replace("%", "%{}"), PLACE)]
Address = Annotated[str, written(r"https?://[\w./:~+@%-]+", "an address")]
# Folders and files get it.
NAME = "a name of letters, digits, '.', '_', and '-' that begins with a letter or digit"
Name = Annotated[str, written("[A-Za-z0-9][A-Za-z0-9._-]*", NAME)]
Configuration = Annotated[str, written("[a-z0-9][a-z0-9._-]*", "the name of a file of configs/")]
Pair = Annotated[str, written("[A-Za-z_]+-[A-Za-z_]+", "two languages like fr-en")]
SEGMENTED = "(word|bpe|sentencepiece):[1-9][0-9]*"
SEGMENTATION = "word:N, bpe:N, or sentencepiece:N"
Segmentation = Annotated[str, written(SEGMENTED, SEGMENTATION)]
Size = Literal["small", "medium", "full"]

Value = Annotated[Any, AfterValidator(check_single)]
Changes = dict[str, Value]  # of one system of an ablation: a segmentation, and options of fairseq-train
# Shells read it, as part of paths.
SYSTEM = "a name, followed by +OPTION=VALUE, if by anything, of letters, digits, '.', '_', and '-'"
SystemName = Annotated[str, written("[A-Za-z0-9][A-Za-z0-9._=+-]*", SYSTEM)]
AblationName = Annotated[str, written("[a-z0-9][a-z0-9._-]*", "a name of small letters, digits, '.', '_', and '-'")]
NAMES, CHANGES = "list of names", "ablation"
SystemNames = Annotated[
    Annotated[list[SystemName], DISTINCT, Tag(NAMES)] | Annotated[dict[AblationName, Changes], Tag(CHANGES)],
    Discriminator(lambda systems: CHANGES if isinstance(systems, dict) else NAMES),
]
