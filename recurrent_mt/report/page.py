"""One self-contained HTML file of a report."""

from __future__ import annotations

from pathlib import Path

from ..evaluation.figures import COLORS
from ..evaluation.scores import CURVE_RESAMPLES, FEWEST, INTERVAL, PAIRED_BOOTSTRAP
from ..evaluation.tables import SIGNIFICANT, Table
from ..metrics.sentence_statistics import SEED
from ..pages.rendering import render
from .sections import Report, list_sections
from .sentences import collect_data


def render_page(report: Report) -> str:
    """Renders the report as one HTML page."""
    return render(
        Path(__file__).parent / "templates",
        collect_data(report.analysis, report.listed_sentences),
        scripts=["page.js"],
        rules="\n".join(f".series-{index} {{ --series: {color}; }}" for index, color in enumerate(COLORS)),
        title=report.title,
        report=report,
        analysis=report.analysis,
        systems=report.analysis.names,
        sections=list(list_sections(report)),
        colors=len(COLORS),
        list_longest_details=list_longest_details,
        constants={
            "SEED": SEED,
            "CURVE_RESAMPLES": CURVE_RESAMPLES,
            "FEWEST": FEWEST,
            "INTERVAL": INTERVAL,
            "PAIRED_BOOTSTRAP": PAIRED_BOOTSTRAP,
            "SIGNIFICANT": SIGNIFICANT,
        },
    )


def list_longest_details(table: Table) -> list[str]:
    """The longest detail in each column of a table."""
    return [max((cell.detail for cell in column), key=len) for column in zip(*table.rows, strict=True)]
