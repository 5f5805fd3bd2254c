"""Reads the annotations that one downloads from Pearmut's dashboard, of a campaign of `recurrent-mt rate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from ..text_files import FileError
from .campaign import ADEQUACY, ASSESSMENT, FLUENCY

#: What stands in the place of answers where the dashboard has reset what somebody did.
RESET = "__RESET__"


class Content(BaseModel):
    """What stands in a file: of exactly these types, whatever else may be there."""

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)


class Sliders(Content):
    """Answers side by side."""

    adequacy: Annotated[int, Field(ge=ADEQUACY.low, le=ADEQUACY.high)] | None
    fluency: Annotated[int, Field(ge=FLUENCY.low, le=FLUENCY.high)] | None


class Answer(Content):
    """What was answered about one translation: the score in direct assessment, else the sliders."""

    score: Annotated[int, Field(ge=ASSESSMENT.low, le=ASSESSMENT.high)] | None
    sliders: Sliders | None = None

    def by_scale(self) -> dict[str, int | None]:
        """Name of a scale -> answer."""
        return {ASSESSMENT.name: self.score} if self.sliders is None else self.sliders.model_dump()


class Rated(Content):
    """Whose translation it is; the fields are those of `campaign.Translation`."""

    systems: tuple[str, ...] = Field(min_length=1)
    #: in campaigns of earlier versions, something else of translations that were there to see whether people read
    kind: str = "system"


class Shown(Content):
    """What `campaign.Screen.document` tells of a screen."""

    item_id: str
    rated: dict[str, Rated]  # by Pearmut's name of the translation


class Entry(Content):
    """What Pearmut writes when somebody has rated a screen, or when the dashboard resets all that somebody did."""

    user_id: str
    #: nothing for a reset
    annotation: Annotated[list[dict[str, Answer]], BeforeValidator(lambda given: [] if given == RESET else given)]
    item: list[Shown] = []


@dataclass(frozen=True, order=True)
class Item:
    """A translation that people rated; its content says which, whoever rated it."""

    sentence: str  # line of the test set, from 1
    systems: tuple[str, ...]  # who made it; several where they translated alike


@dataclass(frozen=True)
class Ratings:
    """What one annotator said."""

    path: str  # where it was read
    annotator: str  # Pearmut's name of them
    values: Mapping[str, Mapping[Item, int]]  # scale -> item -> number; unrated items are left out


def read_ratings(path: str | PathLike[str]) -> tuple[str, list[Ratings]]:
    """Reads a file of annotations: the name of the campaign, and what each annotator said.

    Who rated a screen twice meant the second; what the dashboard has reset does not count.

    Raises:
        FileError: if it is something else; it names the first place that is wrong. Also if it has several campaigns,
            answers about other translations than were shown, or none.
    """
    try:
        campaigns = TypeAdapter(dict[str, list[Entry]]).validate_json(Path(path).read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        message = f'{first["msg"]}: give what Pearmut\'s dashboard gives for "Download all annotations"'
        raise FileError(f"{path}, {place}" if place else path, message) from error
    if len(campaigns) != 1:
        raise FileError(path, f"it has {len(campaigns)} campaigns: download from the dashboard of one")
    ((campaign, entries),) = campaigns.items()
    said: dict[str, dict[str, dict[Item, int]]] = {}
    for entry in entries:
        if [screen.rated.keys() for screen in entry.item] != [answers.keys() for answers in entry.annotation]:
            raise FileError(path, f"answers of {entry.user_id!r} are not about the translations that were shown")
        if not entry.annotation:
            said.pop(entry.user_id, None)
            continue
        values = said.setdefault(entry.user_id, {})
        for screen, answers in zip(entry.item, entry.annotation):
            for name, rated in screen.rated.items():
                note_answer(values, screen.item_id, rated, answers[name])
    found = [Ratings(str(path), annotator, values) for annotator, values in said.items() if values]
    if not found:
        raise FileError(path, "nobody has rated anything")
    return campaign, found


def note_answer(values: dict[str, dict[Item, int]], sentence: str, rated: Rated, answer: Answer) -> None:
    """Adds what was answered about a system's translation to the values of its scales."""
    for scale, value in answer.by_scale().items():
        if value is not None and rated.kind == "system":
            values.setdefault(scale, {})[Item(sentence, rated.systems)] = value


def read_all_ratings(paths: Sequence[str | PathLike[str]]) -> tuple[str, list[Ratings]]:
    """Reads the files of one campaign, which several servers may have served.

    Raises:
        FileError: as `read_ratings`, and if they are of different campaigns, or two have the same annotator.
    """
    campaign, found = read_ratings(paths[0])
    for path in paths[1:]:
        name, more = read_ratings(path)
        if name != campaign:
            raise FileError(path, f"it is of the campaign {name!r}, but {paths[0]} of {campaign!r}")
        earlier = {ratings.annotator: ratings.path for ratings in found}
        for ratings in more:
            if ratings.annotator in earlier:
                raise FileError(path, f"{ratings.annotator!r} is in {earlier[ratings.annotator]}, too: leave one out")
        found += more
    return campaign, found
