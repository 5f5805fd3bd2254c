"""What all figures share: fonts for every script, colors, empty axes, and files that appear whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any

from matplotlib import font_manager, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from ..text_files import write_aside

#: Okabe and Ito's colors, which people with any color vision can tell apart.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
LINES: Sequence[Any] = ("-", "--", ":", "-.")
#: Tokens of a sentence that is drawn as an example: long enough to show something, short enough to read.
EXAMPLE_LENGTHS = range(5, 13)
#: Comes with matplotlib: Latin, Greek, Cyrillic, Arabic and Hebrew letters.
DEFAULT_FONT = "DejaVu Sans"
#: Fonts with Chinese characters, on Debian, elsewhere on Linux, on Windows and on macOS; the first installed is taken.
CHINESE_FONTS = (
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


#: matplotlib's settings are those of the process: two threads that change them and put them back would mix them up.
_SETTINGS = RLock()


@contextmanager
def using_settings(settings: dict[Any, Any]) -> Iterator[None]:
    """Settings of matplotlib within this context, for one thread at a time; the others wait."""
    with _SETTINGS, rc_context(settings):
        yield


@contextmanager
def set_style(size: float = 10) -> Iterator[None]:
    """Settings of all figures, as a context or as a decorator of what draws one; ``size`` of the letters in points.

    Words are drawn in every script that a font is installed for, and their dollar signs are no formulas.
    """
    with using_settings({"font.size": size, "font.family": font_families(), "text.parse_math": False}):
        yield


def new_axes(width: float = 6.4, height: float = 3.8) -> tuple[Figure, Axes]:
    """An empty figure (inches), without pyplot and its global state, and its axes with a light grid."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    style_axes(axes)
    return figure, axes


def style_axes(axes: Axes) -> None:
    """A light grid, and no frame."""
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def choose_mark(place: int) -> dict[str, Any]:
    """The color and the marker of one of several things, by its place: beyond the colors, another marker."""
    return {"color": COLORS[place % len(COLORS)], "marker": MARKERS[(place + place // len(COLORS)) % len(MARKERS)]}


def own_legend(legend: Legend, lines: Sequence[Line2D]) -> None:
    """Gives a legend's entries identifiers that begin with their lines', so that who hides a line finds its entry."""
    for line, key, name in zip(lines, legend.get_lines(), legend.get_texts(), strict=True):
        key.set_gid(f"{line.get_gid()}-key")
        name.set_gid(f"{line.get_gid()}-name")


def choose_examples(lengths: Iterable[int], count: int) -> list[int]:
    """The numbers, from 0, of the first sentences whose lengths are in `EXAMPLE_LENGTHS`, at most `count`."""
    return list(islice((number for number, length in enumerate(lengths) if length in EXAMPLE_LENGTHS), count))


def save_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """Saves a figure in the format that the path's ending names; see `write_aside`.

    Raises:
        ValueError: if it names none.
    """
    path = Path(path)
    kind = path.suffix.removeprefix(".").lower()
    if kind not in figure.canvas.get_supported_filetypes():
        raise ValueError(f"{path}: the name of a figure must end in .svg, .png, or .pdf")
    # The same figure is the same file: no date and no random identifiers.
    with write_aside(path) as partial, using_settings({"svg.hashsalt": path.stem}):
        figure.savefig(partial, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)


@lru_cache(maxsize=1)
def font_families() -> list[str]:
    """The families to draw words with: matplotlib takes each character from the first that has it."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    return [DEFAULT_FONT, *[family for family in CHINESE_FONTS if family in installed][:1]]
