"""A rating study: what each screen shows, told apart from whose translations they are."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from .scales import MODES

PAGE_FORMAT = "rating-page/1"
KEY_FORMAT = "rating-key/1"
RATINGS_FORMAT = "ratings/1"

#: A translation whose ratings count for its systems.
SYSTEM = "system"
#: The same translation a second time: its two ratings should agree.
REPEAT = "repeat"
#: A translation with some of its words replaced: it should be rated below the original.
DEGRADED = "degraded"
#: A translation shown beside a degraded one to fill the screen: its ratings are not used.
FILLER = "filler"


@dataclass(frozen=True)
class Item:
    """One translation on one screen.

    Attributes:
        identifier: screen number, and a letter where the screen has several: ``12.B``.
        text: the translation.
        systems: who made it; several where they translated alike.
        kind: `SYSTEM`, `REPEAT`, `DEGRADED` or `FILLER`.
        original: identifier of the item that a repeat or a degraded item is compared with, else None.
    """

    identifier: str
    text: str
    systems: tuple[str, ...]
    kind: str
    original: str | None = None


@dataclass(frozen=True)
class Screen:
    """What is rated together.

    Attributes:
        number: from 1, in the order of the page.
        sentence: line of the test set, from 1.
        source: None if it is not shown.
        reference: None if it is not shown.
        items: in the order in which they are shown.
    """

    number: int
    sentence: int
    source: str | None
    reference: str | None
    items: tuple[Item, ...]


@dataclass(frozen=True)
class RatingStudy:
    """All screens of a page.

    Attributes:
        mode: a key of `MODES`.
        systems: names, in the order given.
        screens: in the order of the page.
        seed: of all random choices.
        title: heading of the page.
        source_language: language tag of the sources (BCP 47), empty if unknown: chooses fonts and voices.
        target_language: the same of the translations.
    """

    mode: str
    systems: tuple[str, ...]
    screens: tuple[Screen, ...]
    seed: int
    title: str
    source_language: str = ""
    target_language: str = ""

    def page_data(self) -> dict[str, Any]:
        """What the page may know: texts and questions, nothing about systems or controls."""
        data: dict[str, Any] = {
            "format": PAGE_FORMAT,
            "title": self.title,
            "mode": self.mode,
            "sourceLanguage": self.source_language,
            "targetLanguage": self.target_language,
            "scales": [asdict(scale) for scale in MODES[self.mode]],
            "screens": [
                {
                    "source": screen.source,
                    "reference": screen.reference,
                    "items": [{"id": item.identifier, "text": item.text} for item in screen.items],
                }
                for screen in self.screens
            ],
        }
        return {**data, "page": checksum(data)}

    def key(self) -> dict[str, Any]:
        """What the page must not tell: systems, sentences and controls of its items."""
        return {
            "format": KEY_FORMAT,
            "page": self.page_data()["page"],
            "title": self.title,
            "mode": self.mode,
            "seed": self.seed,
            "systems": list(self.systems),
            "items": {
                item.identifier: {
                    "sentence": screen.sentence,
                    "systems": list(item.systems),
                    "kind": item.kind,
                    "original": item.original,
                }
                for screen in self.screens
                for item in screen.items
            },
        }


def checksum(data: dict[str, Any]) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of the data as JSON."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
