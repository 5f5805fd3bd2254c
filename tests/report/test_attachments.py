"""Files of other commands in the report: drawings, numbers as tables, and text that nobody knows."""

import numpy as np
import pytest

from recurrent_mt.evaluation.alignment import GoldLinks, SoftAlignment
from recurrent_mt.evaluation.alignment_figures import alignment_table, score_alignments
from recurrent_mt.evaluation.tables import Cell, Table, write_results
from recurrent_mt.report.attachments import Printout, join_tables, read_attachment
from recurrent_mt.report.page import render_page
from tests.pages import Outline
from tests.report.reports import report_of_few_charts, svg


def test_alignments_of_several_systems_share_a_table(tmp_path):
    links = frozenset({(0, 0), (1, 1)})
    alignment = SoftAlignment(0, ("le", "chat", "</s>"), ("the", "cat", "</s>"), np.eye(3) * 0.85 + 0.05)
    records = score_alignments("attention", [alignment], [GoldLinks(links, links)])
    found = []
    for name in ("lstm", "gru"):
        write_results(tmp_path / name / "summary", [alignment_table(records)], records)
        found.append(read_attachment("Alignments", name, tmp_path / name / "summary.txt"))
    header, *rows = Outline(render_page(report_of_few_charts(attachments=found))).tables["Attention"]
    assert header[-5:] == ["alignment error rate, %", "precision, %", "recall, %", "links", "sure gold links"]
    numbers = ["1", "2", *(f"{value:.2f}" for value in records["value"][:2]), "0.0", "100.0", "100.0", "2", "2"]
    assert rows == [["lstm", *numbers], ["gru", *numbers]]


def test_tables_that_were_made_otherwise_stay_apart(tmp_path):
    made = {"a": ("13a", ""), "b": ("zh", ""), "c": ("13a", "Other."), "d": ("13a", "")}
    tables = [
        Table("Scores", ["System", "BLEU"], [name], [[Cell("1.0")]], [note], [signature])
        for name, (signature, note) in made.items()
    ]
    assert [table.names for table in join_tables(tables)] == [["a", "d"], ["b"], ["c"]]


@pytest.mark.parametrize("numbers", ["{", "[]", "{}", '{"tables": [{}]}'])
def test_damaged_numbers_are_named(tmp_path, numbers):
    (tmp_path / "scores.txt").write_text("printed\n")
    (tmp_path / "scores.json").write_text(numbers)
    with pytest.raises(ValueError, match=r"scores\.json: it has no tables of the tool that wrote scores\.txt"):
        read_attachment("Structure", "grconv", tmp_path / "scores.txt")


def test_text_of_other_commands_is_shown_as_it_is(tmp_path):
    (tmp_path / "notes.txt").write_text("a  b\n")
    assert read_attachment("Notes", "mine", tmp_path / "notes.txt") == Printout("Notes", "mine", "a  b\n")


def test_what_is_no_text_is_named(tmp_path):
    (tmp_path / "map.svg").write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"map\.svg is not UTF-8 text"):
        read_attachment("A", "lstm", tmp_path / "map.svg")


def test_figures_of_sentences_are_told_apart_by_the_numbers_of_the_page(tmp_path):
    for name in ("sentence-3", "output-3", "tree"):
        (tmp_path / f"{name}.svg").write_text(svg())
    figures = [read_attachment("A", "lstm", tmp_path / f"{name}.svg") for name in ("sentence-3", "output-3", "tree")]
    assert {figure.system for figure in figures} == {"lstm"}
    assert [figure.title for figure in figures] == ["lstm, sentence 4", "lstm, sentence 4, output", "lstm"]
    assert read_attachment("A", "sentence-3", tmp_path / "sentence-3.svg").title == "sentence-3"
