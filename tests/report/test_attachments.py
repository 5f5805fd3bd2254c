"""Files of other commands in the report: drawings, numbers as tables, and text that nobody knows."""

import numpy as np
import pytest

from recurrent_mt.evaluation.alignment import GoldLinks, SoftAlignment
from recurrent_mt.evaluation.alignment_figures import alignment_table, score_alignments
from recurrent_mt.evaluation.beams import beam_table, record_search
from recurrent_mt.evaluation.structure.gates import PyramidGates
from recurrent_mt.evaluation.structure.trees import read_penn_trees, score_trees, tree_tables
from recurrent_mt.evaluation.tables import Cell, Table, make_frame, tables_as_text, write_results
from recurrent_mt.report.attachments import Figure, Printout, join_tables, name_table, read_attachment
from recurrent_mt.report.page import render_page
from tests.pages import Outline
from tests.report.reports import report_of_few_charts, svg


def write_summary(folder, *, gold):
    alignments = [SoftAlignment(0, ("le", "chat", "</s>"), ("the", "cat", "</s>"), np.eye(3) * 0.85 + 0.05)]
    links = frozenset({(0, 0), (1, 1)})
    records = score_alignments("attention", alignments, [GoldLinks(links, links)] if gold else None)
    write_results(folder / "summary", [alignment_table(records)], records)
    return {
        metric: value for metric, value, by in zip(records["metric"], records["value"], records["by"]) if by == "all"
    }


def test_alignments_of_several_systems_share_a_table(tmp_path):
    values = write_summary(tmp_path / "lstm", gold=True)
    write_summary(tmp_path / "gru", gold=True)
    found = [read_attachment("Alignments", name, tmp_path / name / "summary.txt") for name in ("lstm", "gru")]
    page = Outline(render_page(report_of_few_charts(attachments=found)))
    header, *rows = page.tables["Attention"]
    assert header[-5:] == ["alignment error rate, %", "precision, %", "recall, %", "links", "sure gold links"]
    entropies = [f"{values[name]:.2f}" for name in ("entropy, bits", "uniform entropy, bits")]
    numbers = ["1", "2", *entropies, "0.0", "100.0", "100.0", "2", "2"]
    assert rows == [["lstm", *numbers], ["gru", *numbers]]


def test_alignments_without_gold_links_have_no_error_rate(tmp_path):
    write_summary(tmp_path, gold=False)
    (table,) = read_attachment("Alignments", "lstm", tmp_path / "summary.txt").tables
    assert table.header == ["System", "sentences", "target words", "entropy, bits", "uniform entropy, bits"]


def test_tables_of_trees_have_the_numbers_of_the_printed_ones(tmp_path):
    (tmp_path / "gold").write_text("(S (NP (D le) (N chat)) (VP (V dort) (P .)))\n")
    gates = np.random.default_rng(1).dirichlet([1, 1, 1], size=(4, 4))
    records = score_trees([PyramidGates(0, ("le", "chat", "dort", "."), gates)], read_penn_trees(tmp_path / "gold"))
    printed = tree_tables(records, 1)
    write_results(tmp_path / "scores", printed, records)
    tables = read_attachment("Structure", "grconv", tmp_path / "scores.txt").tables
    assert [table.caption.split(":")[0] for table in tables] == ["grconv, all tokens", "grconv, without punctuation"]
    lines = [line.split() for line in tables_as_text(printed).splitlines()]
    for table in tables:
        assert len(table.rows) == 7
        for name, row in zip(table.names, table.rows, strict=True):
            assert " ".join([name, *map(str, row)]).split() in lines


def test_beams_become_the_table_of_their_own_command(tmp_path):
    values = {"BLEU": 20.0, "length ratio": 0.95, "sentences/s": 12.5}
    records = make_frame(
        record_search("lstm", metric, value, beam=beam, penalty=1.0, n=2)
        for beam in (1, 5)
        for metric, value in values.items()
    )
    printed = beam_table(records, "nrefs:1")
    write_results(tmp_path / "beams", [printed], records)
    attachment = read_attachment("Beams", "by beam", tmp_path / "beams.txt")
    (table,) = attachment.tables
    assert (table.caption, table.header, table.rows) == ("by beam", printed.header, printed.rows)
    page = render_page(report_of_few_charts(attachments=[attachment]))
    assert "BLEU: nrefs:1" in page and "12.5" in page
    write_results(tmp_path / "beams", [beam_table(records[records["bucket"] == "1"], "nrefs:1")], records)
    (table,) = read_attachment("Beams", "by beam", tmp_path / "beams.txt").tables
    assert len(table.names) == 1 and table.names[0] == printed.names[0], "one row keeps its system's name"


@pytest.mark.parametrize(
    ("caption", "shown"),
    [
        ("Scores of all", "lstm, scores of all"),
        ("BLEU by beam", "lstm, BLEU by beam"),
        ("F-measure of words", "lstm, F-measure of words"),
        ("chrF2", "lstm, chrF2"),
        ("", "lstm"),
    ],
)
def test_a_caption_goes_on_after_its_title_and_keeps_acronyms(caption, shown):
    assert name_table("lstm", Table(caption, ["System"], [], [])).caption == shown


def test_tables_that_were_made_otherwise_stay_apart():
    made = {"a": ("13a", ""), "b": ("zh", ""), "c": ("13a", "Other."), "d": ("13a", "")}
    tables = [
        Table("Scores", ["System", "BLEU"], [name], [[Cell("1.0")]], [note], [signature])
        for name, (signature, note) in made.items()
    ]
    assert [table.names for table in join_tables(tables)] == [["a", "d"], ["b"], ["c"]]


@pytest.mark.parametrize("numbers", [None, "{}", "1", "[]", '{"else": 1}'])
def test_text_of_other_commands_is_shown_as_it_is(tmp_path, numbers):
    (tmp_path / "notes.txt").write_text("a  b\n")
    if numbers:
        (tmp_path / "notes.json").write_text(numbers)
    assert read_attachment("Notes", "mine", tmp_path / "notes.txt") == Printout("Notes", "mine", "a  b\n")


@pytest.mark.parametrize(
    "numbers",
    [
        "{",
        '{"tables": 1}',
        '{"tables": [{}]}',
        '{"tables": [{"caption": "", "header": ["a", "b"], "names": ["c"], "rows": [[]]}]}',
        '{"tables": [{"caption": "", "header": ["a", "b"], "names": ["c"], "rows": [[{"text": "d", "count": "e"}]]}]}',
    ],
)
def test_damaged_numbers_are_named(tmp_path, numbers):
    (tmp_path / "scores.txt").write_text("printed\n")
    (tmp_path / "scores.json").write_text(numbers)
    with pytest.raises(ValueError, match=r"scores\.json: .*make it anew with the tool that wrote it"):
        read_attachment("Structure", "grconv", tmp_path / "scores.txt")


def test_figures_of_sentences_are_told_apart_by_the_numbers_of_the_page(tmp_path):
    for name in ("sentence-3", "tree"):
        (tmp_path / f"{name}.svg").write_text(svg())
    titles = [read_attachment("A", "lstm", tmp_path / f"{name}.svg").title for name in ("sentence-3", "tree")]
    assert titles == ["lstm, sentence 4", "lstm"]
    assert read_attachment("A", "sentence-3", tmp_path / "sentence-3.svg").title == "sentence-3"


@pytest.mark.parametrize(("width", "size"), [("200pt", "narrow"), ("400pt", ""), ("900pt", "wide"), ("30", "")])
def test_wide_drawings_get_a_row_and_narrow_ones_shrink(width, size):
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}"/>'
    assert Figure("A", "b", drawing).size == size
