"""Validation loss against updates, from logs of fairseq-train."""

import math

import pytest

from recurrent_mt.evaluation.figures import COLORS, save_figure
from recurrent_mt.evaluation.tables import tables_as_text
from recurrent_mt.evaluation.training import (
    draw_learning_curves,
    learning_curve_table,
    read_learning_curves,
    read_shown_curves,
)
from recurrent_mt.evaluation.translated_files import System
from recurrent_mt.text_files import FileError
from tests.commands import call
from tests.evaluation.logs import MODEL, interval, valid


@pytest.fixture
def write_log(tmp_path):
    def write(name, *validations):
        lines = [MODEL, interval(10, 1), *(line for each in validations for line in valid(*each))]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def test_a_point_needs_every_seed(write_log):
    logs = write_log("1.log", (100, 5.0), (150, 4.8), (200, 4.0)), write_log("2.log", (100, 6.0), (200, 5.0))
    curve = read_learning_curves(logs)
    assert curve.to_dict("split")["data"] == [[5.0, 6.0], [4.0, 5.0]] and list(curve.index) == [100, 200]


def test_an_update_that_was_done_again_after_an_interruption_counts_once_and_last(write_log):
    log = write_log("1.log", (100, 5.0), (200, 4.5), (200, 4.0))
    assert read_learning_curves([log]).loc[200].tolist() == [4.0]


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_the_mean_over_seeds_of_which_one_diverged_is_no_number(loss, write_log):
    logs = [write_log("1.log", (100, 5.0), (200, 4.0)), write_log("2.log", (100, 6.0), (200, loss))]
    curve = read_learning_curves(logs)
    rows = [line.split() for line in tables_as_text([learning_curve_table({"two": curve})]).splitlines()]
    assert ["two", "2", "5.50", "±", "0.71", "–"] in rows
    (line,) = draw_learning_curves({"two": curve}).axes[0].lines
    assert line.get_ydata()[0] == 5.5 and math.isnan(line.get_ydata()[1])


def test_logs_without_a_common_validation_are_named(write_log):
    logs = write_log("1.log", (100, 5.0)), write_log("2.log", (200, 5.0))
    with pytest.raises(FileError, match=r"1\.log: no validation at updates at which the 1 other logs have one"):
        read_learning_curves(logs)


def test_a_log_without_validations_is_named(write_log):
    logs = write_log("1.log", (100, 5.0)), write_log("2.log")
    for some in (logs, logs[1:]):
        with pytest.raises(FileError, match=r"2\.log: it has no validation, or is a file of fairseq's --log-file, "):
            read_learning_curves(some)


def test_the_table_has_means_and_deviations_and_a_dash_where_nothing_was_validated(write_log):
    curves = {
        "two": read_learning_curves([write_log("1.log", (100, 5.0)), write_log("2.log", (100, 6.0))]),
        "one": read_learning_curves([write_log("3.log", (100, 5.5), (1200, 4.0))]),
    }
    text = tables_as_text([learning_curve_table(curves)])
    rows = [line.split() for line in text.splitlines()]
    assert ["two", "2", "5.50", "±", "0.71", "–"] in rows
    assert ["one", "1", "5.50", "4.00"] in rows
    assert "1,200" in text


def test_the_figure_has_a_line_a_system_at_the_mean_of_its_seeds(write_log, tmp_path):
    curves = {"two": read_learning_curves([write_log("1.log", (100, 5.0)), write_log("2.log", (100, 6.0))])}
    figure = draw_learning_curves(curves)
    (line,) = figure.axes[0].lines
    assert line.get_label() == "two" and line.get_xydata().tolist() == [[100, 5.5]]
    save_figure(figure, tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").read_text().rstrip().endswith("</svg>")


def test_a_report_has_the_curves_of_what_was_trained_in_the_colors_of_all_systems(write_log, tmp_path):
    systems = [System("file", {"1": [""]})]
    for name, validations in {"short": [(100, 5.0), (200, 4.0)], "never validated": []}.items():
        folder = tmp_path / name / "seed-1"
        folder.mkdir(parents=True)
        write_log(f"{name}/seed-1/train.log", *validations)
        (folder / "test.detokenized").touch()
        systems.append(System(name, {"1": [""]}, folder=folder.parent))
    curves = read_shown_curves(systems)
    assert list(curves) == ["short"] and curves["short"].index.tolist() == [100, 200]
    (line,) = draw_learning_curves(curves, names=[system.name for system in systems]).axes[0].lines
    assert line.get_color() == COLORS[1]


def test_the_command_draws_and_prints(write_log, tmp_path):
    log = write_log("1.log", (100, 5.0), (200, 4.0))
    out = tmp_path / "figures" / "curves.svg"
    finished = call("learning-curves", "--system", f"mine={log}", "--out", out)
    assert out.is_file() and "mine" in finished.stdout and "4.00" in finished.stdout
