"""What was compared, and how: all that decides the numbers of the page."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ..evaluation.analysis import Analysis
from ..evaluation.score_tables import SIGNIFICANT
from ..evaluation.scores import CURVE_RESAMPLES, FEWEST, Settings
from ..evaluation.tables import Cell, Table, format_number
from ..evaluation.test_set import System
from ..metrics.sentence_statistics import SEED
from .markup import element
from .report import Report
from .table import table_markup


def method(report: Report) -> list[Element]:
    """The content of the section."""
    analysis = report.analysis
    signatures: list[Element | str] = [
        element("span", None, f"{metric} ", element("code", None, signature))
        for metric, signature in analysis.signatures.items()
    ]
    terms: dict[str, list[Element | str]] = {
        "Test set": [test_set_text(analysis)],
        "Metrics": signatures,
        "Intervals and tests": [resampling_text(analysis.settings, analysis.baseline)],
        "Length": [length_text(analysis.settings)],
        "Sentences": [sentence_text(analysis)],
    }
    pairs = []
    for term, descriptions in terms.items():
        pairs.append(element("dt", None, term))
        pairs += [element("dd", {"dir": "auto"}, description) for description in descriptions]
    return [table_markup(system_table(analysis), report.systems), element("dl", {"class": "method"}, *pairs)]


def system_table(analysis: Analysis) -> Table:
    """The systems, the baseline first."""
    names = [system.name for system in analysis.systems]
    rows = [system_cells(system) for system in analysis.systems]
    notes = [f"The first, {analysis.baseline}, is the baseline: stars and differences are against it."]
    header = ["System", "seeds", "source words it knows", "target words it knows"]
    return Table("Systems", header, names, rows, notes if len(names) > 1 else [])


def system_cells(system: System) -> list[Cell]:
    """How often it was trained, and the size of its dictionaries."""
    sizes = system.vocabulary_sizes or (None, None)
    return [Cell(str(len(system.translations))), *(Cell(format_number(size, ",")) for size in sizes)]


def test_set_text(analysis: Analysis) -> str:
    """Size, language, casing, and what a word is."""
    test_set = analysis.test_set
    language = f", target language {test_set.target_language}" if test_set.target_language else ""
    case = "case ignored" if test_set.lowercase else "case kept"
    return f"{len(test_set):,} sentences{language}; {case}; words are {test_set.words}."


def resampling_text(settings: Settings, baseline: str) -> str:
    """How intervals and stars came about."""
    if not settings.resamples:
        return "None were asked for."
    return (
        f"95% bootstrap intervals over sentences, {settings.resamples:,} resamples "
        f"({min(settings.resamples, CURVE_RESAMPLES):,} for each point along length), seed {SEED}. "
        f"A star: differs from {baseline} by the paired bootstrap (Koehn 2004), two-sided, p < {SIGNIFICANT}. "
        f"No interval and no test below {FEWEST} sentences."
    )


def length_text(settings: Settings) -> str:
    """What a point of a curve is."""
    before, after = (settings.window - 1) // 2, settings.window // 2
    return (
        f"A curve's point at n words covers n − {before} to n + {after} words (window of {settings.window}, as in "
        f"Cho et al. 2014b); points with fewer than {settings.fewest} sentences are left out."
    )


def sentence_text(analysis: Analysis) -> str:
    """What single sentences are scored with."""
    text = "Single sentences are scored with chrF, which is made for that."
    if any(len(system.translations) > 1 for system in analysis.systems):
        text += (
            " Scores of the whole test set and of groups are means over seeds; sentences, words by frequency, and "
            "repeated and dropped content are those of the first seed."
        )
    return text
