import json

import pandas

from recurrent_mt.evaluation.tables import (
    Cell,
    Record,
    Table,
    format_number,
    make_frame,
    mark_best,
    mean_cell,
    table_as_csv,
    table_as_latex,
    tables_as_markdown,
    tables_as_text,
    write_results,
)

CELLS = mark_best([Cell("1.00", " (0.5–1.5)", star=True, rank=1.0), Cell("100.00", rank=100.0)])
TABLE = Table(
    "Scores", ["System", "BLEU"], ["a", "a long|name"], [[cell] for cell in CELLS], ["*: differs."], ["BLEU: x"]
)
BOLD = Table(**{**vars(TABLE), "best_of": "column"})


def test_text_has_caption_grid_signatures_and_notes():
    assert tables_as_text([TABLE]).splitlines() == [
        "Scores",
        "",
        "System                  BLEU",
        "-----------  ---------------",
        "a            1.00 (0.5–1.5)*",
        "a long|name           100.00",
        "",
        "BLEU: x",
        "*: differs.",
    ]


def test_markdown_has_bold_numbers_and_bars_that_do_not_end_their_cell():
    lines = [" ".join(line.split()) for line in tables_as_markdown([BOLD]).splitlines()]
    assert lines[0] == "## Scores"
    assert lines[2] == "| System | BLEU |"
    assert lines[4:6] == ["| a | 1.00 (0.5–1.5)* |", r"| a long\|name | **100.00** |"]
    assert lines[7::2] == ["BLEU: x", "Bold: the best of each column.", "*: differs."]


def test_names_in_markdown_are_no_markup():
    table = Table("", ["System"], ["a*b*c, <unk> forbidden", "`x`", "a_b", "_c_ [d](e) &lt;"], [[]] * 4)
    text = " ".join(tables_as_markdown([table]).split())
    assert r"a\*b\*c, \<unk> forbidden" in text and r"\`x\`" in text and "a_b" in text
    assert r"\_c\_ \[d](e) \&lt;" in text


def test_latex_is_a_table_without_packages_in_which_names_are_no_markup():
    table = Table(**{**vars(BOLD), "names": ["a", r"b_c & 5% \input{x}"]})
    lines = [" ".join(line.split()) for line in table_as_latex(table).splitlines()]
    assert lines[0] == r"\begin{table}" and lines[2] == r"\caption{Scores}" and lines[3] == r"\begin{tabular}{lr}"
    assert r"a & 1.00 (0.5–1.5)* \\" in lines
    assert r"b\_c \& 5\% \textbackslash{}input\{x\} & \textbf{100.00} \\" in lines
    assert lines[-3:] == [r"\end{table}", "% BLEU: x", "% *: differs."]


def test_a_spreadsheet_has_numbers_and_what_stands_beside_them_apart_and_runs_no_names():
    cells = [[Cell("1,234,567"), CELLS[0]], [Cell("-5"), CELLS[1]], [Cell("–"), Cell("+1.50")]]
    table = Table("", ["System", "size", "BLEU"], ["=cmd()", "-a", "a, b"], cells)
    assert table_as_csv(table).splitlines() == [
        'System,size,BLEU,"BLEU, details"',
        "'=cmd(),1234567,1.00,(0.5–1.5)*",
        "'-a,-5,100.00,",
        '"a, b",–,+1.50,',
    ]


def test_the_best_are_all_that_print_alike_and_none_where_all_do():
    cells = [mean_cell(Record("a", "BLEU", value), ".1f") for value in (1.0, 3.04, 2.96, None)]
    assert [cell.best for cell in mark_best(cells)] == [False, True, True, False]
    assert [cell.best for cell in mark_best(cells, lower_is_better=True)] == [True, False, False, False]
    assert not any(cell.best for cell in mark_best(cells[1:]))


def test_what_is_not_known_is_a_dash():
    assert [format_number(number, ",.1f") for number in (None, 1234.56, 0)] == ["–", "1,234.6", "0.0"]


def test_results_are_written_with_all_digits(tmp_path):
    records = make_frame([Record("a", "BLEU", 1 / 3, n=7), Record("b", "BLEU", None)])
    write_results(tmp_path / "scores", [BOLD], records, seed=3)
    assert {path.name for path in tmp_path.iterdir()} == {"scores.json", "scores.md", "scores.txt"}
    content = json.loads((tmp_path / "scores.json").read_text())
    assert content["seed"] == 3
    assert [row["value"] for row in content["records"]] == [1 / 3, None]
    pandas.testing.assert_frame_equal(pandas.DataFrame(content["records"])[["system", "n"]], records[["system", "n"]])
    assert [table["caption"] for table in content["tables"]] == ["Scores"]
