"""Figures of scores: colors, gaps, and text that comes from data."""

import numpy as np
import pytest

from recurrent_mt.evaluation.figures import COLORS
from recurrent_mt.evaluation.plots import list_plots
from recurrent_mt.evaluation.scores import Settings, score_systems
from recurrent_mt.evaluation.tables import Group, group_tables
from tests.evaluation.test_sets import forgetful, perfect, small

LENGTHS = ["source length", "reference length", "length of both sides"]
#: First that of no side.
UNKNOWN = [
    *("unknown words", "unknown words, source", "unknown words, reference", "unknown words, either"),
]


@pytest.fixture(scope="module")
def records():
    test_set = small(copies=5)
    settings = Settings(metrics=("chrf",), detailed=("chrf",), resamples=0, most_unknown=2, window=1, fewest=5)
    return score_systems(test_set, [perfect(test_set, "$a$b$ {"), forgetful(test_set, "f" * 80)], settings).records


def draw(records, by):
    (plot,) = (plot for plot in list_plots(records) if plot.by == by)
    return plot.draw(records, 1)


def test_names_of_groups_are_names_and_columns_say_what_they_are(records):
    """With other names, the same figures and tables."""
    renamed = records.assign(by=records["by"].where(records["by"] == "all", records["by"].str.upper() + "!"))
    plots, same = ([(one.section, one.group, one.side) for one in list_plots(each)] for each in (records, renamed))
    assert same == plots
    assert {(group, side) for _, group, side in plots} == {
        *(("length curve", side) for side in ("source", "reference", "both")),
        *(("unknown words", side) for side in ("source", "reference", "either")),
    }
    for group, names in ((Group.LENGTH, LENGTHS), (Group.UNKNOWN_WORDS, UNKNOWN)):
        tables, same = (group_tables(one, ["chrF2"], "$a$b$ {", group) for one in (records, renamed))
        assert [table.header[0] for table in tables] == names
        assert [table.rows for table in same] == [table.rows for table in tables] and len(tables) == len(names)


def test_a_system_keeps_its_color_where_another_one_has_no_dictionary(records):
    (drawn,) = draw(records, "unknown words, source").axes[0].containers
    assert drawn[0].get_color() == COLORS[1]


def test_a_line_has_a_gap_at_lengths_without_sentences(records):
    lengths, means = draw(records, "along source length").axes[0].lines[0].get_data()
    # The sentences have 1, 2, 3, 6 and 8 words.
    assert list(lengths) == list(range(1, 9))
    assert [bool(np.isnan(mean)) for mean in means] == [False, False, False, True, True, False, True, False]


def test_lengths_are_whole_numbers(records):
    figure = draw(records, "along source length")
    assert all(tick == int(tick) for axes in figure.axes for tick in axes.get_xticks())


def test_long_names_have_several_lines_in_a_legend_and_dollar_signs_are_no_formula(records):
    figure = draw(records, "along source length")
    figure.canvas.draw()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["$a$b$ {", "f" * 36 + "\n" + "f" * 36 + "\n" + "f" * 8]
    box = legend.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0


@pytest.mark.parametrize("by", ["along source length", "unknown words, source"])
def test_names_that_begin_with_an_underscore_are_in_the_legend(records, by):
    names = {name: f"_{name}" for name in records["system"].unique()}
    (legend,) = draw(records.assign(system=records["system"].map(names)), by).legends
    found = [text.get_text() for text in legend.get_texts()]
    assert found and all(name.startswith("_") for name in found)
