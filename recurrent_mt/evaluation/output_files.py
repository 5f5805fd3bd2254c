"""Files that appear whole or not at all."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure


def write_text(path: str | PathLike[str], text: str) -> None:
    """Writes a text file aside and renames it."""
    partial = Path(f"{path}.partial")
    partial.write_text(text, encoding="utf-8", newline="\n")
    partial.replace(path)


def save_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """Saves a figure in the format that the path's ending names, aside, and renames it."""
    path = Path(path)
    partial = path.with_name(f"{path.name}.partial")
    kind = path.suffix.removeprefix(".")
    # The same figure is the same file: no date and no random identifiers.
    with rc_context({"svg.hashsalt": path.stem}):
        figure.savefig(partial, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    partial.replace(path)
