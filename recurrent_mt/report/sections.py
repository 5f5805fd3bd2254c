"""The parts of the page, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..evaluation.evaluation import Breakdown, MetricEvaluation
from ..evaluation.evaluation_tables import (
    breakdown_table,
    content_table,
    nbest_table,
    overall_table,
    reading_notes,
    vocabulary_table,
    word_accuracy_table,
)
from ..evaluation.study import Study
from .attachments import Attachment, Figure, Printout, Results, join_tables
from .charts import Chart, draw_length_charts, draw_unknown_word_charts, draw_word_chart, make_identifier
from .method import describe_method
from .report import Report
from .sentences import count_unknown_words, find_differences
from .tables import Table, mark_best_of_columns, mark_best_of_rows, system_table, take_apart, training_table


@dataclass(frozen=True)
class Section:
    """A part of the page that the contents list names.

    Attributes:
        title: its heading.
        charts: shown first, side by side.
        tables: shown below them.
        template: of what else it has, below ``templates/sections``; empty if nothing.
        values: for the template.
    """

    title: str
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    template: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identifier(self) -> str:
        """What links point to; titles of letters that addresses lack are told apart by their code points."""
        return make_identifier(self.title) or "section-" + "-".join(f"{ord(letter):x}" for letter in self.title)


def list_sections(report: Report) -> Iterator[Section]:
    """Every part that there is something to show in."""
    study = report.study
    yield Section(
        "Systems and method", (), [take_apart(system_table(study))], "method", {"terms": describe_method(report)}
    )
    # Signatures are part of the method.
    notes = list(reading_notes(study.metrics[0].overall, study.baseline))
    scores = take_apart(
        overall_table(study.metrics, study.baseline), caption="Scores on the whole test set", notes=notes
    )
    yield Section("Scores", (), [mark_best_of_columns(scores)])
    if tables := list_breakdowns(study, lambda by: by.endswith(" length")):
        yield Section("Sentence length", list(draw_length_charts(study)), tables)
    # First all sentences against those without unknown words, as in the papers' tables; then the finer groups.
    unknown = list_breakdowns(study, lambda by: by == "unknown words")
    if unknown := unknown + list_breakdowns(study, lambda by: by.startswith("unknown words, ")):
        charts = [chart for metric in study.metrics for chart in draw_unknown_word_charts(metric)]
        yield Section("Unknown words", charts, unknown)
    if len({system.vocabulary_sizes for system in study.systems if system.vocabulary_sizes}) > 1:
        yield Section("Vocabulary size", (), [take_apart(vocabulary_table(study.metrics[0], study.systems))])
    if study.words:
        table = mark_best_of_rows(take_apart(word_accuracy_table(study.words)), report.systems)
        yield Section("Words by frequency", [draw_word_chart(study)], [table])
    content = take_apart(content_table(study.contents), caption="Length, repeated words, and missing words")
    yield Section("Repetitions and omissions", (), [content])
    if study.nbest:
        listed = {"count": report.listed_sentences, "whole": len(study.test_set)}
        yield Section("N-best lists", (), [take_apart(nbest_table(study.metrics[0], study.nbest))], "nbest", listed)
    if report.training:
        yield Section("Training", (), [take_apart(training_table(report.training))])
    if len(study.systems) > 1:
        values = {"baseline": study.baseline, "differences": find_differences(study)}
        yield Section("Largest differences", template="differences", values=values)
    yield from list_attachments(report.attachments)
    yield Section("All sentences", template="browser", values=list_controls(study))


def list_breakdowns(study: Study, wanted: Callable[[str], bool]) -> list[Table]:
    """The tables of every metric's breakdowns whose name is wanted."""
    return [
        show_breakdown(metric, breakdown, study)
        for metric in study.metrics
        for breakdown in metric.breakdowns
        if wanted(breakdown.by)
    ]


def show_breakdown(metric: MetricEvaluation, breakdown: Breakdown, study: Study) -> Table:
    """A table of groups; the best system is marked where all are scored on the same sentences."""
    by = "length of both sides" if breakdown.by == "both length" else breakdown.by
    table = take_apart(breakdown_table(metric, replace(breakdown, by=by), study.baseline))
    if "sentences" not in table.header:
        return table
    return mark_best_of_rows(table, [row.system for row in breakdown.systems], lower=metric.lower_is_better)


def list_attachments(attachments: Sequence[Attachment]) -> Iterator[Section]:
    """A section for each heading: tables first, then drawings side by side."""
    for title in dict.fromkeys(one.section for one in attachments):
        members = [one for one in attachments if one.section == title]
        tables = join_tables([table for one in members if isinstance(one, Results) for table in one.tables])
        values = {
            "figures": [one for one in members if isinstance(one, Figure)],
            "printouts": [one for one in members if isinstance(one, Printout)],
        }
        yield Section(title, (), list(map(take_apart, tables)), "attachments", values)


def list_controls(study: Study) -> dict[str, Any]:
    """What the controls of the sentence browser offer, as pairs of value and text."""
    systems = [(str(index), system.name) for index, system in enumerate(study.systems)]
    sides = [*([("source", "source")] if study.test_set.source else []), ("reference", "reference")]
    fields = [*sides, *systems]
    dictionaries = count_unknown_words(study)
    orders = [("number", "position in the test set")]
    orders += [(f"length:{side}", f"{side} length") for side, _ in sides]
    if dictionaries:
        orders += [(f"unknown:{side}", f"unknown words, {side}") for side in ("source", "reference")]
    orders += [(f"score:{index}", f"chrF of {name}") for index, name in systems]
    orders += [(f"difference:{index}", f"chrF of {name} minus {systems[0][1]}") for index, name in systems[1:]]
    orders += [("spread", "chrF, best minus worst system")] if len(systems) > 1 else []
    orders += [(f"text:{value}", f"text of {name}") for value, name in fields]
    names = [", ".join(systems[index][1] for index in one["systems"]) for one in dictionaries]
    return {"sides": sides, "fields": fields, "orders": orders, "dictionaries": list(enumerate(names))}
