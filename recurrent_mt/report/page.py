"""One self-contained HTML file of a report."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path

from .data import page_data, script_json
from .markup import render
from .report import Report
from .scripts import join_modules
from .section import contents_list
from .sections import sections

FILES = Path(__file__).parent / "page"
ENTRY = "page.js"
#: In the order in which their rules override one another.
STYLES = ("base.css", "tables.css", "charts.css", "sentences.css", "print.css")


def render_page(report: Report) -> str:
    """The page.

    Text from data is escaped by the serialiser of its element, or stands in JSON in an element that is never executed;
    the script writes it as text content only. A content security policy names style and script by their checksums and
    allows nothing else: no network, and no script or style that came with the data.
    """
    style = "\n".join(map(read, STYLES))
    script = join_modules({path.name: read(path.name) for path in FILES.glob("*.js")}, ENTRY)
    policy = "; ".join(
        [
            "default-src 'none'",
            "img-src data:",
            f"style-src {source_hash(style)}",
            f"script-src {source_hash(script)}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    content = list(sections(report))
    parts = {
        "policy": policy,
        "title": html.escape(report.title),
        "summary": html.escape(summary(report)),
        "style": f"<style>{style}</style>",
        "contents": render(contents_list(content)),
        "sections": "\n".join(render(section.markup()) for section in content),
        "data": script_json(page_data(report.analysis, report.listed_sentences)),
        "script": f'<script type="module">{script}</script>',
    }
    # One pass, so that nothing is replaced inside what was put in.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], read("report.html"))


def summary(report: Report) -> str:
    """The line below the title."""
    systems = len(report.systems)
    return f"{systems} system{'s' if systems > 1 else ''} on {len(report.analysis.test_set):,} sentences"


def read(name: str) -> str:
    """A file of the page's own."""
    return (FILES / name).read_text(encoding="utf-8")


def source_hash(text: str) -> str:
    """A content security policy's name for an inline element with this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
