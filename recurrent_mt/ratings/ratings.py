"""Reads what rating pages export, and the key that tells whose translations were rated."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from ..text_files import BYTE_ORDER_MARK, FileError, is_line
from .study import DEGRADED, MODES, REPEAT, SYSTEM, Scale

#: So many items that two people rated at the same millisecond are no chance.
FEWEST_SHARED = 2


class Content(BaseModel):
    """What stands in a file: of exactly these types, whatever else may be there."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


class KeyItem(Content):
    """What the key says of one item; the fields are those of `study.Item`, and the sentence of its screen."""

    sentence: int
    systems: tuple[str, ...] = Field(min_length=1)
    kind: Literal["system", "repeat", "degraded", "filler"]
    original: str | None = None


class Key(Content):
    """The key of a page."""

    format: Literal["rating-key/1"]  # `study.KEY_FORMAT`
    page: str  # checksum of the page
    mode: Literal["side-by-side", "direct"]
    systems: tuple[str, ...] = Field(min_length=1)
    items: dict[str, KeyItem] = Field(min_length=1)  # by identifier

    @property
    def scales(self) -> tuple[Scale, ...]:
        return MODES[self.mode]

    def of_kind(self, kind: str) -> dict[str, KeyItem]:
        """The items of one kind, in the order of the page."""
        return {identifier: item for identifier, item in self.items.items() if item.kind == kind}


@dataclass(frozen=True)
class Ratings:
    """One annotator's file."""

    path: str  # where it was read
    annotator: str  # name, as given on the page
    values: Mapping[str, Mapping[str, int]]  # scale -> item -> number; unrated items are left out
    unrated: tuple[str, ...]  # items with a scale that was left out
    seconds: Mapping[str, float]  # item -> time for which its screen was in sight
    #: item -> when it was rated last; unrated items are left out
    rated_at: Mapping[str, str] = field(default_factory=dict)


class Export(Content):
    """What a page exports, but for its ratings, whose questions depend on the way of rating."""

    format: Literal["ratings/1"]  # `study.RATINGS_FORMAT`
    page: str
    annotator: str


Model = TypeVar("Model", bound=Content)


def read_content(path: str | PathLike[str], model: type[Model]) -> Model:
    """Reads a JSON file of this content.

    Raises:
        FileError: if it is something else; it names the first place that is wrong.
    """
    try:
        return model.model_validate_json(Path(path).read_bytes().removeprefix(BYTE_ORDER_MARK))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise FileError(f"{path}, {place}" if place else path, first["msg"]) from error


def read_key(path: str | PathLike[str]) -> Key:
    """Reads the key of a page.

    Raises:
        FileError: if it is not a whole key.
    """
    key = read_content(path, Key)
    for identifier, item in key.items.items():
        if unknown := set(item.systems) - set(key.systems):
            raise FileError(f"{path}, item {identifier}", f"unknown system {min(unknown)!r}")
        original = key.items.get(item.original or "")
        if item.kind in (REPEAT, DEGRADED) and (original is None or original.kind != SYSTEM):
            raise FileError(f"{path}, item {identifier}", f"its original {item.original!r} is not among the items")
    return key


def make_export(scales: Sequence[Scale]) -> Any:
    """The content of a file with an answer on each of these scales for each item."""
    answers: dict[str, Any] = {
        scale.name: (Annotated[int, Field(ge=scale.low, le=scale.high)] | None, ...) for scale in scales
    }
    rating = create_model(
        "Rating",
        __base__=Content,
        item=(str, ...),
        screen_seconds=(Annotated[float, Field(ge=0)], ...),
        rated_at=(str | None, None),
        **answers,
    )
    return create_model("Export", __base__=Export, ratings=(list[rating], ...))  # type: ignore[valid-type]


def read_ratings(path: str | PathLike[str], key: Key, *, allow_unrated: bool = False) -> Ratings:
    """Reads the file of one annotator.

    Args:
        path: a file that a rating page has exported.
        key: of the same page.
        allow_unrated: accept items without a rating.

    Raises:
        FileError: if it is another kind of file or of another page, if an item is missing, unknown or there twice, or
            if a value is missing, no whole number or off its scale.
    """
    content = read_content(path, make_export(key.scales))
    if content.page != key.page:
        raise FileError(path, f"made with page {content.page!r}, but the key is of page {key.page!r}")
    annotator = content.annotator.strip()
    if not annotator or not is_line(annotator):
        raise FileError(path, f"the annotator's name is {annotator!r}: nothing, or nothing that can be shown")
    entries = {entry.item: entry for entry in content.ratings}
    if len(entries) < len(content.ratings):
        raise FileError(path, "an item is there twice")
    if different := sorted(entries.keys() ^ key.items.keys()):
        raise FileError(path, f"{len(different)} items are missing or not on the page, the first is {different[0]!r}")
    values = {
        scale.name: {item: answer for item in key.items if (answer := getattr(entries[item], scale.name)) is not None}
        for scale in key.scales
    }
    unrated = [item for item in key.items if not all(item in answers for answers in values.values())]
    if unrated and not allow_unrated:
        raise FileError(
            path,
            f"{len(unrated)} of {len(key.items)} items are unrated, the first is {unrated[0]}: have the rest rated on "
            "the page, or allow it (--allow-unrated)",
        )
    seconds = {item: entries[item].screen_seconds for item in key.items}
    rated_at = {item: moment for item in key.items if (moment := entries[item].rated_at) is not None}
    return Ratings(str(path), annotator, values, tuple(unrated), seconds, rated_at)


def read_all_ratings(paths: Sequence[str | PathLike[str]], key: Key, *, allow_unrated: bool = False) -> list[Ratings]:
    """Reads the files of all annotators.

    Raises:
        FileError: as `read_ratings`, and if two files are by one annotator, or one has ratings of the other.
    """
    found: list[Ratings] = []
    for path in paths:
        ratings = read_ratings(path, key, allow_unrated=allow_unrated)
        for earlier in found:
            require_another(ratings, earlier)
        found.append(ratings)
    return found


def require_another(ratings: Ratings, earlier: Ratings) -> None:
    """Raises FileError unless two files are by two annotators.

    Names that differ in case alone are one person's. No two people rate at the same millisecond again and again: a file
    with another's times was exported under a second name.
    """
    if fold_name(ratings.annotator) == fold_name(earlier.annotator):
        same = ratings.annotator == earlier.annotator
        name = "" if same else f" as {earlier.annotator!r}"
        raise FileError(
            ratings.path,
            f"annotator {ratings.annotator!r} is already in {earlier.path}{name}: leave one of them out",
        )
    shared = [item for item, moment in ratings.rated_at.items() if earlier.rated_at.get(item) == moment]
    if len(shared) >= FEWEST_SHARED:
        raise FileError(
            ratings.path,
            f"{len(shared)} items were rated at the same time as in {earlier.path}, the first is {shared[0]}: they are "
            f"one person's ratings under the names {earlier.annotator!r} and {ratings.annotator!r}; leave one file out",
        )


def fold_name(name: str) -> str:
    """What names of one person have in common."""
    return unicodedata.normalize("NFC", name).casefold()
