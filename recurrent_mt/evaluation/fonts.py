"""Fonts for the words in figures: accents, Chinese and the rest, from what is installed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

#: Comes with matplotlib: Latin, Greek, Cyrillic, Arabic and Hebrew letters.
DEFAULT = "DejaVu Sans"
#: Fonts with Chinese characters, on Debian, elsewhere on Linux, on Windows and on macOS, the first found is taken.
CHINESE = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Microsoft YaHei",
    "SimHei",
    "PingFang SC",
    "Heiti SC",
    "Arial Unicode MS",
)


@lru_cache(maxsize=1)
def font_families() -> list[str]:
    """The families to draw words with: matplotlib takes each character from the first that has it."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    return [DEFAULT, *[family for family in CHINESE if family in installed][:1]]


def missing_characters(texts: Iterable[str]) -> list[str]:
    """The characters that none of :func:`font_families` can draw, sorted; they would appear as empty boxes."""
    known: set[str] = set()
    for family in font_families():
        known |= _characters(family)
    return sorted({character for text in texts for character in text if not character.isspace()} - known)


@lru_cache(maxsize=4)
def _characters(family: str) -> frozenset[str]:
    path = font_manager.findfont(family, fallback_to_default=False)
    return frozenset(map(chr, FT2Font(path).get_charmap()))
