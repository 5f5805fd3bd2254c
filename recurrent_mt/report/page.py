"""One self-contained HTML file of a report."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..evaluation.figures import COLORS
from ..evaluation.score_tables import SIGNIFICANT
from ..evaluation.scores import CURVE_RESAMPLES, FEWEST
from ..metrics.sentence_statistics import SEED
from .sections import Report, list_sections
from .sentences import collect_data, write_json

TEMPLATES = Path(__file__).parent / "templates"


def render_page(report: Report) -> str:
    """The page.

    Text from data is escaped by the templates, or is in JSON in an element that is never executed; the script writes it
    as text content only. A content security policy names style and script by their checksums and allows nothing else:
    no network, and no script or style that came with the data.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    colors = "\n".join(f".series-{index} {{ --series: {color}; }}" for index, color in enumerate(COLORS))
    style = f"{colors}\n{(TEMPLATES / 'style.css').read_text(encoding='utf-8')}"
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8")
    return environment.get_template("page.html.j2").render(
        report=report,
        analysis=report.analysis,
        systems=report.analysis.names,
        sections=list(list_sections(report)),
        data=write_json(collect_data(report.analysis, report.listed_sentences)),
        style=Markup(style),
        script=Markup(script),
        policy=write_policy(style, script),
        colors=len(COLORS),
        constants={
            "SEED": SEED,
            "CURVE_RESAMPLES": CURVE_RESAMPLES,
            "FEWEST": FEWEST,
            "SIGNIFICANT": SIGNIFICANT,
        },
    )


def write_policy(style: str, script: str) -> str:
    """The content security policy: this style and script, images inside the page, nothing else."""
    rules = (
        "default-src 'none'",
        "img-src data:",
        f"style-src {hash_source(style)}",
        f"script-src {hash_source(script)}",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


def hash_source(text: str) -> str:
    """A content security policy's name for an inline element with this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
