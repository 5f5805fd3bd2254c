"""The questions, and a file with them and the screens for Pearmut (Zouhar and Kocmi 2026), where people answer them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Scale:
    """One question with whole numbers as answers."""

    name: str  # what Pearmut writes at its slider
    question: str  # as asked
    low: int  # smallest answer
    high: int  # largest answer
    anchors: dict[int, str]  # what answers mean
    #: level of measurement (Stevens), which Krippendorff's alpha needs: ``ordinal`` or ``interval``
    level: Literal["ordinal", "interval"]

    def explain(self) -> str:
        """The question and what its answers mean, as HTML."""
        meanings = ", ".join(f"{answer} {meaning}" for answer, meaning in self.anchors.items())
        return f"<li><b>{self.name}</b>: {self.question} ({meanings})</li>"


#: Five-point scales of the Linguistic Data Consortium (2005), as used by Koehn and Monz (2006).
ADEQUACY = Scale(
    name="adequacy",
    question="How much of the meaning is expressed?",
    low=1,
    high=5,
    anchors={1: "none", 2: "little", 3: "much", 4: "most", 5: "all"},
    level="ordinal",
)
FLUENCY = Scale(
    name="fluency",
    question="How good is the language, whatever it means?",
    low=1,
    high=5,
    anchors={1: "incomprehensible", 2: "disfluent", 3: "non-native", 4: "good", 5: "flawless"},
    level="ordinal",
)

#: Direct assessment (Graham et al. 2013, "Continuous Measurement Scales in Human Evaluation of Machine Translation").
ASSESSMENT = Scale(
    name="assessment",
    question="How much do you agree that this translation expresses the meaning of the text beside it adequately?",
    low=0,
    high=100,
    anchors={0: "strongly disagree", 100: "strongly agree"},
    level="interval",
)

SIDE_BY_SIDE = "side-by-side"
DIRECT = "direct"

#: Way of rating -> its scales.
MODES: dict[str, tuple[Scale, ...]] = {SIDE_BY_SIDE: (ADEQUACY, FLUENCY), DIRECT: (ASSESSMENT,)}
SCALES = {scale.name: scale for scales in MODES.values() for scale in scales}


@dataclass(frozen=True)
class Translation:
    """One translation on one screen."""

    text: str
    systems: tuple[str, ...]  # who made it; several where they translated alike

    @property
    def name(self) -> str:
        """Pearmut's name of it, which people do not see."""
        return " = ".join(self.systems)


@dataclass(frozen=True)
class Screen:
    """What is rated together."""

    sentence: int  # line of the test set, from 1
    source: str | None  # None if it is not shown
    reference: str | None  # None if it is not shown
    translations: tuple[Translation, ...]

    def document(self) -> list[dict[str, Any]]:
        """The screen as Pearmut has it; it stores ``rated`` with the answers, for `ratings.read_ratings`."""
        texts = {"src": self.source, "ref": self.reference}
        return [
            {
                "item_id": str(self.sentence),
                **{name: keep_text(text) for name, text in texts.items() if text is not None},
                "tgt": {each.name: keep_text(each.text) for each in self.translations},
                "rated": {each.name: {"systems": each.systems} for each in self.translations},
            }
        ]


def keep_text(text: str) -> str:
    """Text without what Pearmut takes for markup, such as ``<b>`` and, at the beginning, ``<img ``: with a space."""
    return re.sub("<(?=[a-zA-Z/!])", "< ", text)


def make_campaign(name: str, mode: str, tasks: Sequence[Sequence[Screen]]) -> dict[str, Any]:
    """The content of a campaign's file.

    Args:
        name: by which Pearmut knows the campaign, with a checksum of its screens.
        mode: a key of `MODES`.
        tasks: the screens of each annotator, in their order. Pearmut shuffles the translations of a screen.
    """
    scales = MODES[mode]
    shown = " and ".join(
        text
        for text, given in (("the source", tasks[0][0].source), ("a reference translation", tasks[0][0].reference))
        if given is not None
    )
    info: dict[str, Any] = {
        "assignment": "task-based",
        "protocol": "DA",
        "users": len(tasks),
        "instructions": f"On the left: {shown}. On the right: what to rate."
        f"<ul>{''.join(scale.explain() for scale in scales)}</ul>",
    }
    if mode == SIDE_BY_SIDE:
        info["sliders"] = [{"name": scale.name, "min": scale.low, "max": scale.high, "step": 1} for scale in scales]
    data = [[screen.document() for screen in task] for task in tasks]
    checksum = hashlib.sha256(json.dumps(data).encode()).hexdigest()[:8]
    return {"campaign_id": f"{name}-{checksum}", "info": info, "data": data}
