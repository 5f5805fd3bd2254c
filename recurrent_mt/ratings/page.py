"""One self-contained HTML file to rate on, and the key to it."""

from __future__ import annotations

import json
from pathlib import Path

from ..pages.rendering import render
from .scales import MODES
from .study import RatingStudy


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
