"""The parts of the page, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from xml.etree.ElementTree import Element

from ..evaluation.nbest import nbest_table
from ..evaluation.plots import length_sides
from ..evaluation.score_tables import (
    KNOWN_SENTENCES,
    curve_table,
    group_tables,
    vocabulary_table,
    whole_set_table,
)
from ..evaluation.tables import Table
from ..evaluation.training import cost_table
from ..evaluation.words import content_table, word_table
from .chart_place import chart_place
from .charts import length_charts, unknown_charts, word_chart
from .difference_cards import difference_cards
from .figures import figure_sections
from .markup import element
from .method import method
from .report import Report
from .section import Section
from .table import table_markup

ALL_SENTENCES = Section("All sentences", [element("div", {"id": "sentence-browser"})])


def sections(report: Report) -> Iterator[Section]:
    """Every part that there is something to show in."""
    analysis = report.analysis
    records, metrics = analysis.records, list(analysis.signatures)
    yield Section("What was compared, and how", method(report))
    scores = whole_set_table(records, analysis.signatures, analysis.names, analysis.baseline)
    yield Section("Scores", shown(report, [replace(scores, caption="Scores on the whole test set")]))
    if content := length_content(report):
        yield Section("Sentence length", content)
    if content := unknown_content(report):
        yield Section("Unknown words", content)
    if analysis.differs_in_vocabulary:
        table = vocabulary_table(records, metrics[0], analysis.systems, analysis.baseline)
        yield Section("Vocabulary size", shown(report, [table]))
    if analysis.knows_frequencies:
        chart = chart_place(word_chart(analysis))
        yield Section("Words by frequency", [legend(), chart, *shown(report, [word_table(records)])])
    yield Section("Too much and too little", shown(report, [content_table(records)]))
    if analysis.hypothesis_scores:
        yield Section("N-best lists", nbest_content(report))
    if trained := list(report.training["system"].unique()):
        table = cost_table(report.training, trained)
        yield Section("Training", shown(report, [replace(table, caption="Training and speed")]))
    if len(analysis.systems) > 1:
        yield Section("Greatest differences", difference_cards(analysis))
    yield from figure_sections(report.figures)
    yield ALL_SENTENCES


def nbest_content(report: Report) -> list[Element]:
    """What could be reached by choosing from the lists, and where they are."""
    table = nbest_table(report.analysis.records, next(iter(report.analysis.signatures)))
    browser = element("a", {"href": f"#{ALL_SENTENCES.identifier}"}, ALL_SENTENCES.title)
    count, whole = report.listed_sentences, len(report.analysis.test_set)
    where = "" if count >= whole else f" of the first {count:,} sentences"
    score = element(
        "p",
        {"class": "note"},
        "Score: what the search ordered hypotheses by; of fairseq, their log-probability (base 2), divided by their "
        "length unless it was told otherwise. Bold: the highest chrF of a list.",
    )
    place = element(
        "p", None, f"The lists themselves{where}, with their scores: below each translation in ", browser, "."
    )
    return [*shown(report, [table]), *([place, score] if count else [])]


def length_content(report: Report) -> list[Element]:
    """Curves and groups; empty where no metric was broken down."""
    analysis = report.analysis
    places: list[Element] = []
    for metric in analysis.signatures:
        curves = [curve_table(analysis.records, metric, side) for side in length_sides(analysis.records, metric)]
        for chart, curve in zip(length_charts(analysis, metric), curves, strict=True):
            places.append(chart_place(chart, table_markup(curve, report.systems)))
    tables = group_tables(analysis.records, list(analysis.signatures), analysis.baseline, of=" length")
    return with_charts(places, shown(report, list(tables)))


def unknown_content(report: Report) -> list[Element]:
    """Points and groups; empty where no metric was broken down or no dictionary is known."""
    analysis = report.analysis
    metrics = list(analysis.signatures)
    places = [chart_place(chart) for metric in metrics for chart in unknown_charts(analysis, metric)]
    found = list(group_tables(analysis.records, metrics, analysis.baseline, of=KNOWN_SENTENCES))
    # Those of the papers' tables first, all sentences and those without unknown words: the others are finer.
    found.sort(key=lambda table: table.header[0] != KNOWN_SENTENCES)
    return with_charts(places, shown(report, found))


def with_charts(places: Sequence[Element], tables: Sequence[Element]) -> list[Element]:
    """Charts side by side below their legend, then the tables."""
    return [legend(), element("div", {"class": "charts"}, *places), *tables] if places else list(tables)


def legend() -> Element:
    """Where the script puts the switches of the systems."""
    return element("div", {"class": "legend"})


def shown(report: Report, tables: Sequence[Table]) -> list[Element]:
    """The tables as elements."""
    return [table_markup(table, report.systems) for table in tables]
