"""The questions that are asked about a translation, and the numbers that answer them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Scale:
    """One question with whole numbers as answers.

    Attributes:
        name: key of the answers in files, and, capitalized, the heading on the page.
        question: as asked.
        low: smallest answer.
        high: largest answer.
        anchors: what is written at an answer; all of them on a scale of few points, the two ends on a slider.
        level: level of measurement (Stevens), which Krippendorff's alpha needs: ``ordinal`` or ``interval``.
    """

    name: str
    question: str
    low: int
    high: int
    anchors: dict[int, str]
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
