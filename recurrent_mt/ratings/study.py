"""A rating study: its questions, what each screen shows, told apart from whose translations they are, and its page."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ..pages import render

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
class Scale:
    """One question with whole numbers as answers."""

    name: str  # key of the answers in files, and, capitalized, the heading on the page
    question: str  # as asked
    low: int  # smallest answer
    high: int  # largest answer
    #: what is written at an answer; all of them on a scale of few points, the two ends on a slider
    anchors: dict[int, str]
    #: level of measurement (Stevens), which Krippendorff's alpha needs: ``ordinal`` or ``interval``
    level: Literal["ordinal", "interval"]


#: Five-point scales of the Linguistic Data Consortium (2005), as used by Koehn and Monz (2006).
ADEQUACY = Scale(
    name="adequacy",
    question="How much of the meaning is expressed?",
    low=1,
    high=5,
    anchors={1: "None", 2: "Little", 3: "Much", 4: "Most", 5: "All"},
    level="ordinal",
)
FLUENCY = Scale(
    name="fluency",
    question="How good is the language, whatever it means?",
    low=1,
    high=5,
    anchors={1: "Incomprehensible", 2: "Disfluent", 3: "Non-native", 4: "Good", 5: "Flawless"},
    level="ordinal",
)

#: Direct assessment (Graham et al. 2013, "Continuous Measurement Scales in Human Evaluation of Machine Translation").
ASSESSMENT = Scale(
    name="assessment",
    question="How much do you agree that this translation expresses the meaning of the text above adequately?",
    low=0,
    high=100,
    anchors={0: "Strongly disagree", 100: "Strongly agree"},
    level="interval",
)

SIDE_BY_SIDE = "side-by-side"
DIRECT = "direct"

#: Way of rating -> its scales.
MODES: dict[str, tuple[Scale, ...]] = {SIDE_BY_SIDE: (ADEQUACY, FLUENCY), DIRECT: (ASSESSMENT,)}


@dataclass(frozen=True)
class Item:
    """One translation on one screen."""

    identifier: str  # screen number, and a letter where the screen has several: ``12.B``
    text: str  # the translation
    systems: tuple[str, ...]  # who made it; several where they translated alike
    kind: str  # `SYSTEM`, `REPEAT`, `DEGRADED` or `FILLER`
    original: str | None = None  # identifier of the item that a repeat or a degraded item is compared with, else None


@dataclass(frozen=True)
class Screen:
    """What is rated together."""

    number: int  # from 1, in the order of the page
    sentence: int  # line of the test set, from 1
    source: str | None  # None if it is not shown
    reference: str | None  # None if it is not shown
    items: tuple[Item, ...]  # in the order in which they are shown


@dataclass(frozen=True)
class RatingStudy:
    """All screens of a page."""

    mode: str  # a key of `MODES`
    systems: tuple[str, ...]  # names, in the order given
    screens: tuple[Screen, ...]  # in the order of the page
    seed: int  # of all random choices
    title: str  # heading of the page
    source_language: str = ""  # language tag of the sources (BCP 47), empty if unknown: chooses fonts and voices
    target_language: str = ""  # the same of the translations

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


def render_page(study: RatingStudy) -> str:
    """Renders the rating page of a study."""
    return render(
        Path(__file__).parent / "page",
        study.page_data(),
        scripts=["progress.js", "scales.js", "page.js"],
        title=study.title,
        mode=study.mode,
        scales=MODES[study.mode],
        screens=len(study.screens),
        most=max(len(screen.items) for screen in study.screens),
    )


def render_key(study: RatingStudy) -> str:
    """The key of a page: which item is whose, for `ratings.read_key`."""
    return json.dumps(study.key(), indent=1, ensure_ascii=False) + "\n"
