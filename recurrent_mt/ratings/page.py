"""One self-contained HTML file to rate on."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

from .study import RatingStudy

FILES = Path(__file__).parent / "page"
STYLE = "page.css"
#: Plain scripts, in the order in which they use one another.
SCRIPTS = ("progress.js", "scales.js", "page.js")


def render_page(study: RatingStudy) -> str:
    """The page of a study.

    Text from data is in the page once, as JSON in an element that is never executed, with every ``<`` escaped; the
    scripts write it as text content only. A content security policy names the style and the scripts by their checksums
    and allows nothing else: no network, and no script or style that came with the data.
    """
    style = read(STYLE)
    scripts = [read(name) for name in SCRIPTS]
    policy = "; ".join(
        [
            "default-src 'none'",
            "img-src data:",
            f"style-src {hash_source(style)}",
            f"script-src {' '.join(hash_source(script) for script in scripts)}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    parts = {
        "policy": policy,
        "style": f"<style>{style}</style>",
        "data": json.dumps(study.page_data(), ensure_ascii=False).replace("<", "\\u003c"),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    # One pass, so that nothing is replaced inside what was put in.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], read("page.html"))


def render_key(study: RatingStudy) -> str:
    """The key of a page: which item is whose, for `ratings.read_key`."""
    return json.dumps(study.key(), indent=1, ensure_ascii=False) + "\n"


def read(name: str) -> str:
    """A file of the page's own."""
    return (FILES / name).read_text(encoding="utf-8")


def hash_source(text: str) -> str:
    """A content security policy's name for an inline element with this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
