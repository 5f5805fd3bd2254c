"""Files of other commands in the report: drawings, numbers as tables, and text that nobody knows."""

import numpy as np
import pytest

from recurrent_mt.evaluation.alignment.alignment_summary import as_json, as_text, summarize
from recurrent_mt.evaluation.alignment.hard_links import GoldLinks
from recurrent_mt.evaluation.alignment.soft_alignment import SoftAlignment
from recurrent_mt.evaluation.beam_curve import BeamPoint, beam_rows, beams_as_json
from recurrent_mt.evaluation.structure import tree_comparison
from recurrent_mt.evaluation.structure.penn_trees import read_penn_trees
from recurrent_mt.evaluation.structure.pyramid import Pyramid
from recurrent_mt.report.attachments import Figure, Printout, join_tables, read_attachment
from recurrent_mt.report.page import render_page
from tests.report.reports import Outline, small_report, svg


def write_numbers(path, text, numbers):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.with_suffix(".json").write_text(numbers)
    return path


def write_summary(folder, *, gold):
    alignments = [SoftAlignment(0, ("le", "chat", "</s>"), ("the", "cat", "</s>"), np.eye(3) * 0.85 + 0.05)]
    links = frozenset({(0, 0), (1, 1)})
    summary = summarize(alignments, [GoldLinks(links, links)] if gold else None)
    return summary, write_numbers(folder / "summary.txt", as_text(summary), as_json(summary))


def test_alignments_of_several_systems_share_a_table(tmp_path):
    summary, _ = write_summary(tmp_path / "lstm", gold=True)
    write_summary(tmp_path / "gru", gold=True)
    found = [read_attachment("Alignments", name, tmp_path / name / "summary.txt") for name in ("lstm", "gru")]
    page = Outline(render_page(small_report(attachments=found)))
    header, *rows = page.tables["Attention and alignment"]
    assert header[-5:] == ["alignment error rate, %", "precision, %", "recall, %", "links", "sure gold links"]
    numbers = ["1", "2", f"{summary.entropy:.2f}", f"{summary.uniform_entropy:.2f}", "0.0", "100.0", "100.0", "2", "2"]
    assert rows == [["lstm", *numbers], ["gru", *numbers]]


def test_alignments_without_gold_links_have_no_error_rate(tmp_path):
    _, path = write_summary(tmp_path, gold=False)
    (table,) = read_attachment("Alignments", "lstm", path).tables
    assert table.rows[0] == ["System", "sentences", "target words", "entropy, bits", "uniform entropy, bits"]


def test_tables_of_trees_have_the_numbers_of_the_printed_ones(tmp_path):
    (tmp_path / "gold").write_text("(S (NP (D le) (N chat)) (VP (V dort) (P .)))\n")
    gates = np.random.default_rng(1).dirichlet([1, 1, 1], size=(4, 4))
    pyramids = [Pyramid(0, ("le", "chat", "dort", "."), gates)]
    comparison = tree_comparison.compare_trees(pyramids, read_penn_trees(tmp_path / "gold"))
    text = tree_comparison.as_text(comparison)
    path = write_numbers(tmp_path / "scores.txt", text, tree_comparison.as_json(comparison))
    tables = read_attachment("Structure", "grconv", path).tables
    assert [table.title for table in tables] == ["grconv, all tokens", "grconv, without punctuation"]
    printed = [line.split() for line in text.splitlines()]
    for table in tables:
        assert len(table.rows) == 8
        for row in table.rows[1:]:
            assert " ".join(row).split() in printed


def test_beams_become_the_table_of_their_own_command(tmp_path):
    points = [BeamPoint("lstm", beam, 1.0, 20.0 + beam, "nrefs:1", 0.95, 12.5) for beam in (1, 5)]
    path = write_numbers(tmp_path / "beams.txt", "printed\n", beams_as_json(points))
    (table,) = read_attachment("Beams", "by beam", path).tables
    assert (table.title, table.rows) == ("by beam", beam_rows(points))


def test_tables_with_other_columns_stay_apart(tmp_path):
    paths = [write_summary(tmp_path / str(gold), gold=gold)[1] for gold in (True, False, True)]
    tables = [table for path in paths for table in read_attachment("Alignments", "a", path).tables]
    assert [len(table.rows) for table in join_tables(tables)] == [3, 2]


@pytest.mark.parametrize("numbers", [None, "{}", '{"else": 1}'])
def test_text_of_other_commands_is_shown_as_it_is(tmp_path, numbers):
    (tmp_path / "notes.txt").write_text("a  b\n")
    if numbers:
        (tmp_path / "notes.json").write_text(numbers)
    assert read_attachment("Notes", "mine", tmp_path / "notes.txt") == Printout("Notes", "mine", "a  b\n")


@pytest.mark.parametrize(
    "numbers",
    ["{", '{"all_tokens": 1}', '{"sentence_entropies": []}', "[1]", '{"all_tokens": []}', '[{"beam": 1}]', "1"],
)
def test_damaged_numbers_are_named(tmp_path, numbers):
    path = write_numbers(tmp_path / "scores.txt", "printed\n", numbers)
    with pytest.raises(ValueError, match=r"scores\.json: .*make it anew with the command that wrote it"):
        read_attachment("Structure", "grconv", path)


def test_figures_of_sentences_are_told_apart_by_the_numbers_of_the_page(tmp_path):
    for name in ("sentence-3", "tree"):
        (tmp_path / f"{name}.svg").write_text(svg())
    titles = [read_attachment("A", "lstm", tmp_path / f"{name}.svg").title for name in ("sentence-3", "tree")]
    assert titles == ["lstm, sentence 4", "lstm"]
    assert read_attachment("A", "sentence-3", tmp_path / "sentence-3.svg").title == "sentence-3"


@pytest.mark.parametrize(("width", "size"), [("200pt", "narrow"), ("400pt", ""), ("900pt", "wide"), ("30", "")])
def test_wide_drawings_get_a_row_and_narrow_ones_shrink(width, size):
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}"/>'
    assert Figure("A", "b", "", drawing).size == size
