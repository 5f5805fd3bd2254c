"""The parts of the page, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from .chart_place import chart_place
from .charts import length_charts, unknown_charts, word_chart
from .difference_cards import difference_cards
from .figures import figure_sections
from .markup import element
from .method import method
from .report import Report
from .score_tables import (
    breakdown_table,
    content_table,
    curve_table,
    nbest_table,
    overall_table,
    vocabulary_table,
    word_table,
)
from .section import Section
from .table import Table, table_markup
from .training_table import training_table

ALL_SENTENCES = Section("All sentences", [element("div", {"id": "sentence-browser"})])


def sections(report: Report) -> Iterator[Section]:
    """Every part that there is something to show in."""
    study = report.study
    yield Section("What was compared, and how", method(report))
    yield Section("Scores", shown(report, [overall_table(study.metrics, study.baseline)]))
    if content := length_content(report):
        yield Section("Sentence length", content)
    if content := unknown_content(report):
        yield Section("Unknown words", content)
    if len({system.vocabulary_sizes for system in study.systems if system.vocabulary_sizes}) > 1:
        table = vocabulary_table(study.metrics[0], study.systems, study.baseline)
        yield Section("Vocabulary size", shown(report, [table]))
    if study.words:
        place = chart_place(word_chart(study.words))
        yield Section("Words by frequency", [legend(), place, *shown(report, [word_table(study.words)])])
    yield Section("Too much and too little", shown(report, [content_table(study.contents)]))
    if study.nbest:
        yield Section("N-best lists", nbest_content(report))
    if report.training:
        yield Section("Training", shown(report, [training_table(report.training)]))
    if len(study.systems) > 1:
        yield Section("Greatest differences", difference_cards(study))
    yield from figure_sections(report.figures)
    yield ALL_SENTENCES


def nbest_content(report: Report) -> list[Element]:
    """What could be reached by choosing from the lists, and where they are."""
    table = nbest_table(report.study.metrics[0], report.study.nbest)
    browser = element("a", {"href": f"#{ALL_SENTENCES.identifier}"}, ALL_SENTENCES.title)
    count, whole = report.listed_sentences, len(report.study.test_set)
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
    places: list[Element] = []
    tables: list[Table] = []
    for metric in report.study.metrics:
        for chart, curves in length_charts(metric):
            places.append(chart_place(chart, table_markup(curve_table(metric, curves), report.systems)))
        lengths = [one for one in metric.breakdowns if one.by.endswith(" length")]
        tables += [breakdown_table(metric, breakdown, report.study.baseline) for breakdown in lengths]
    return with_charts(places, shown(report, tables))


def unknown_content(report: Report) -> list[Element]:
    """Points and groups; empty where no metric was broken down or no dictionary is known."""
    places: list[Element] = []
    tables: list[Table] = []
    for metric in report.study.metrics:
        places += map(chart_place, unknown_charts(metric))
        found = [one for one in metric.breakdowns if one.by.startswith("unknown words")]
        # Those of the papers' tables first, all sentences and those without unknown words: the others are finer.
        found.sort(key=lambda one: one.by.startswith("unknown words, "))
        tables += [breakdown_table(metric, breakdown, report.study.baseline) for breakdown in found]
    return with_charts(places, shown(report, tables))


def with_charts(places: Sequence[Element], tables: Sequence[Element]) -> list[Element]:
    """Charts side by side below their legend, then the tables."""
    return [legend(), element("div", {"class": "charts"}, *places), *tables] if places else list(tables)


def legend() -> Element:
    """Where the script puts the switches of the systems."""
    return element("div", {"class": "legend"})


def shown(report: Report, tables: Sequence[Table]) -> list[Element]:
    """The tables as elements."""
    return [table_markup(table, report.systems) for table in tables]
