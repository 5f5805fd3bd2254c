"""Reads and checks what rating pages export, and the key that tells whose translations were rated."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from ..text_files import BYTE_ORDER_MARK, FileError, is_line
from .study import DEGRADED, FILLER, KEY_FORMAT, MODES, RATINGS_FORMAT, REPEAT, SYSTEM, Scale

KINDS = (SYSTEM, REPEAT, DEGRADED, FILLER)
#: Seconds: longer than anybody has had a screen before them.
LONGEST_TIME = 1e12
#: So many items that two people rated at the same millisecond are no chance.
FEWEST_SHARED = 2


@dataclass(frozen=True)
class KeyItem:
    """What the key says of one item; the fields are those of `study.Item`, and the sentence of its screen."""

    sentence: int
    systems: tuple[str, ...]
    kind: str
    original: str | None


@dataclass(frozen=True)
class Key:
    """The key of a page.

    Attributes:
        path: where it was read.
        page: checksum of the page.
        mode: a key of `MODES`.
        systems: all names.
        items: identifier -> what it is.
    """

    path: str
    page: str
    mode: str
    systems: tuple[str, ...]
    items: Mapping[str, KeyItem]

    @property
    def scales(self) -> tuple[Scale, ...]:
        return MODES[self.mode]

    def of_kind(self, kind: str) -> dict[str, KeyItem]:
        """The items of one kind, in the order of the page."""
        return {identifier: item for identifier, item in self.items.items() if item.kind == kind}


@dataclass(frozen=True)
class Ratings:
    """One annotator's file.

    Attributes:
        path: where it was read.
        annotator: name, as given on the page.
        values: scale -> item -> number; unrated items are left out.
        unrated: items with a scale that was left out.
        seconds: item -> time for which its screen was in sight.
        rated_at: item -> when it was rated last; unrated items are left out.
    """

    path: str
    annotator: str
    values: Mapping[str, Mapping[str, int]]
    unrated: tuple[str, ...]
    seconds: Mapping[str, float]
    rated_at: Mapping[str, str] = field(default_factory=dict)


def read_key(path: str | PathLike[str]) -> Key:
    """Reads the key of a page.

    Raises:
        FileError: if it is not a whole key.
    """
    data = read_object(path, KEY_FORMAT, "a key of a rating page (OUT.key.json)")
    mode, systems, entries = data.get("mode"), data.get("systems"), data.get("items")
    if not isinstance(mode, str) or mode not in MODES:
        raise FileError(path, f"its mode is {mode!r}: not one of {', '.join(MODES)}")
    if not isinstance(systems, list) or not is_names(systems):
        raise FileError(path, "its systems are missing: the file is damaged")
    if len(set(systems)) < len(systems):
        raise FileError(path, f"system {find_twice(systems)!r} is there twice: the file is damaged")
    if not isinstance(data.get("page"), str) or not isinstance(entries, dict) or not entries:
        raise FileError(path, "its page or its items are missing: the file is damaged")
    items = {identifier: parse_key_item(path, identifier, entry, systems) for identifier, entry in entries.items()}
    for identifier, item in items.items():
        compared = item.kind in (REPEAT, DEGRADED)
        if compared and (item.original not in items or items[item.original].kind != SYSTEM):
            raise FileError(f"{path}, item {identifier}", f"its original {item.original!r} is not among the items")
    return Key(str(path), data["page"], mode, tuple(systems), items)


def parse_key_item(path: str | PathLike[str], identifier: str, entry: Any, systems: Sequence[str]) -> KeyItem:
    """Reads one item of the key to a study."""
    place = f"item {identifier}"
    if not isinstance(entry, dict) or not is_names(entry.get("systems")) or entry.get("kind") not in KINDS:
        raise FileError(f"{path}, {place}", "its systems or its kind are missing: the file is damaged")
    unknown = set(entry["systems"]) - set(systems)
    if unknown:
        raise FileError(f"{path}, {place}", f"unknown system {sorted(unknown)[0]!r}")
    if len(set(entry["systems"])) < len(entry["systems"]):
        raise FileError(f"{path}, {place}", f"system {find_twice(entry['systems'])!r} is there twice")
    if not is_whole(entry.get("sentence")):
        raise FileError(f"{path}, {place}", f"its sentence is {entry.get('sentence')!r}: not a number")
    original = entry.get("original")
    if original is not None and not isinstance(original, str):
        raise FileError(f"{path}, {place}", f"its original is {original!r}: not the name of an item")
    return KeyItem(entry["sentence"], tuple(entry["systems"]), entry["kind"], original)


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
    data = read_object(path, RATINGS_FORMAT, "ratings that a rating page has exported")
    if data.get("page") != key.page:
        raise FileError(path, f"made with page {data.get('page')!r}, but {key.path} is the key of page {key.page!r}")
    annotator = check_annotator(path, data.get("annotator"))
    if not isinstance(data.get("ratings"), list):
        raise FileError(path, "there are no ratings in it: the file is damaged")
    values: dict[str, dict[str, int]] = {scale.name: {} for scale in key.scales}
    seconds: dict[str, float] = {}
    rated_at: dict[str, str] = {}
    unrated = []
    for number, entry in enumerate(data["ratings"], start=1):
        identifier = check_identifier(path, number, entry, key, seconds)
        place = f"rating {number} (item {identifier})"
        seconds[identifier] = check_seconds(path, place, entry)
        if (moment := check_moment(path, place, entry)) is not None:
            rated_at[identifier] = moment
        answers = {scale.name: check_value(path, place, entry, scale) for scale in key.scales}
        if None in answers.values():
            unrated.append(identifier)
        for name, value in answers.items():
            if value is not None:
                values[name][identifier] = value
    missing = [identifier for identifier in key.items if identifier not in seconds]
    if missing:
        raise FileError(path, f"{len(missing)} of {len(key.items)} items are missing, the first is {missing[0]}")
    if unrated and not allow_unrated:
        raise FileError(
            path,
            f"{len(unrated)} of {len(key.items)} items are unrated, the first is {unrated[0]}: have the rest rated on "
            "the page, or allow it (--allow-unrated)",
        )
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


def read_object(path: str | PathLike[str], expected_format: str, description: str) -> dict[str, Any]:
    """A JSON object of the format that is expected."""
    try:
        data = json.loads(Path(path).read_bytes().removeprefix(BYTE_ORDER_MARK).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileError(path, f"byte {error.start + 1} is not UTF-8: this is not {description}") from error
    except json.JSONDecodeError as error:
        raise FileError(f"{path}, line {error.lineno} column {error.colno}", f"not JSON ({error.msg})") from error
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"not JSON ({error})") from error
    found = data.get("format") if isinstance(data, dict) else None
    if found != expected_format:
        raise FileError(path, f"not {description}: its format is {found!r}, not {expected_format!r}")
    return data


def check_annotator(path: str | PathLike[str], name: Any) -> str:
    """The name of who has rated, as it is shown."""
    if not isinstance(name, str) or not name.strip():
        raise FileError(path, "the annotator has no name")
    if not is_line(name.strip()):
        raise FileError(path, f"the annotator's name is {name!r}: it has a character that cannot be shown")
    return name.strip()


def check_identifier(path: str | PathLike[str], number: int, entry: Any, key: Key, seen: Mapping[str, float]) -> str:
    """The item of one entry: known to the key, and not there before."""
    identifier = entry.get("item") if isinstance(entry, dict) else None
    if not isinstance(identifier, str) or identifier not in key.items:
        raise FileError(f"{path}, rating {number}", f"item {identifier!r} is not on the page")
    if identifier in seen:
        raise FileError(f"{path}, rating {number}", f"item {identifier} is there twice")
    return identifier


def check_value(path: str | PathLike[str], place: str, entry: Mapping[str, Any], scale: Scale) -> int | None:
    """One answer; None where the page says that there is none."""
    if scale.name not in entry:
        raise FileError(f"{path}, {place}", f"{scale.name} is missing")
    value = entry[scale.name]
    if value is not None and not (is_whole(value) and scale.low <= value <= scale.high):
        wanted = f"a whole number from {scale.low} to {scale.high}"
        raise FileError(f"{path}, {place}", f"{scale.name} is {value!r}: not {wanted}")
    return value


def check_seconds(path: str | PathLike[str], place: str, entry: Mapping[str, Any]) -> float:
    """Checks the time that an entry says it took."""
    value = entry.get("screen_seconds")
    # Python compares numbers of any size; beyond the limit, a whole one has no float.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < LONGEST_TIME:
        raise FileError(f"{path}, {place}", f"screen_seconds is {repr(value)[:80]}: not a time")
    return float(value)


def check_moment(path: str | PathLike[str], place: str, entry: Mapping[str, Any]) -> str | None:
    """Checks when an item was rated; None where it was not."""
    moment = entry.get("rated_at")
    if moment is not None and not isinstance(moment, str):
        raise FileError(f"{path}, {place}", f"rated_at is {repr(moment)[:80]}: not a time")
    return moment


def find_twice(names: Sequence[str]) -> str:
    """The name that is there most often."""
    return Counter(names).most_common(1)[0][0]


def is_whole(value: Any) -> bool:
    """True for whole numbers; JSON's true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_names(value: Any) -> bool:
    """True for a list of strings with at least one."""
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)
