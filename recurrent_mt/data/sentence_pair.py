"""A line and its translation, as the rules see them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .words import count_words


@dataclass(slots=True)
class SentencePair:
    """Two normalised lines.

    Attributes:
        source: text.
        target: text.
        languages: codes of the two.
        words: how many each side has (see :func:`.count_words`).
    """

    source: str
    target: str
    languages: tuple[str, str]
    words: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        self.words = (count_words(self.source, self.languages[0]), count_words(self.target, self.languages[1]))

    @property
    def sides(self) -> tuple[str, str]:
        """Both texts."""
        return (self.source, self.target)
