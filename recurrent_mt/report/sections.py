"""The parts of the page, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..evaluation.analysis import Analysis
from ..evaluation.nbest import nbest_table
from ..evaluation.score_tables import KNOWN_SENTENCES, group_tables, vocabulary_table, whole_set_table
from ..evaluation.tables import Table
from ..evaluation.words import content_table, word_table
from .attachments import Attachment, Figure, Printout, Results, join_tables
from .charts import Chart, draw_length_charts, draw_unknown_word_charts, draw_word_chart, make_identifier
from .method import describe_method
from .report import Report
from .sentences import count_unknown_words, find_differences
from .tables import show_groups, system_table, training_table


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
    analysis = report.analysis
    records, metrics = analysis.records, list(analysis.signatures)
    yield Section("Systems and method", (), [system_table(analysis)], "method", {"terms": describe_method(report)})
    scores = whole_set_table(records, analysis.signatures, analysis.names, analysis.baseline)
    # Signatures are part of the method.
    yield Section("Scores", (), [replace(scores, caption="Scores on the whole test set", signatures=())])
    if tables := list_groups(analysis, " length"):
        yield Section("Sentence length", list(draw_length_charts(analysis)), tables)
    if tables := list_groups(analysis, KNOWN_SENTENCES):
        charts = [chart for metric in metrics for chart in draw_unknown_word_charts(analysis, metric)]
        # First all sentences against those without unknown words, as in the papers' tables; then the finer groups.
        tables.sort(key=lambda table: table.header[0] != KNOWN_SENTENCES)
        yield Section("Unknown words", charts, tables)
    if analysis.differs_in_vocabulary:
        table = vocabulary_table(records, metrics[0], analysis.systems, analysis.baseline)
        yield Section("Vocabulary size", (), [table])
    if analysis.knows_frequencies:
        yield Section("Words by frequency", [draw_word_chart(analysis)], [word_table(records)])
    content = replace(content_table(records), caption="Length, repeated words, and missing words")
    yield Section("Repetitions and omissions", (), [content])
    if analysis.hypothesis_scores:
        listed = {"count": report.listed_sentences, "whole": len(analysis.test_set)}
        yield Section("N-best lists", (), [nbest_table(records, metrics[0])], "nbest", listed)
    if not report.training.empty:
        yield Section("Training", (), [training_table(report.training)])
    if len(analysis.systems) > 1:
        values = {"baseline": analysis.baseline, "differences": find_differences(analysis)}
        yield Section("Largest differences", template="differences", values=values)
    yield from list_attachments(report.attachments)
    yield Section("All sentences", template="browser", values=list_controls(analysis))


def list_groups(analysis: Analysis, of: str) -> list[Table]:
    """The tables of every metric's groups whose name has a word in it."""
    tables = group_tables(analysis.records, list(analysis.signatures), analysis.baseline, of=of)
    return list(map(show_groups, tables))


def list_attachments(attachments: Sequence[Attachment]) -> Iterator[Section]:
    """A section for each heading: tables first, then drawings side by side."""
    for title in dict.fromkeys(one.section for one in attachments):
        members = [one for one in attachments if one.section == title]
        tables = join_tables([table for one in members if isinstance(one, Results) for table in one.tables])
        values = {
            "figures": [one for one in members if isinstance(one, Figure)],
            "printouts": [one for one in members if isinstance(one, Printout)],
        }
        yield Section(title, (), tables, "attachments", values)


def list_controls(analysis: Analysis) -> dict[str, Any]:
    """What the controls of the sentence browser offer, as pairs of value and text."""
    systems = [(str(index), system.name) for index, system in enumerate(analysis.systems)]
    sides = [*([("source", "source")] if analysis.test_set.source else []), ("reference", "reference")]
    fields = [*sides, *systems]
    dictionaries = count_unknown_words(analysis)
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
