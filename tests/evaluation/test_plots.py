"""Figures of scores: colors, gaps, and text that comes from data."""

import numpy as np
import pytest

from recurrent_mt.evaluation.figures import COLORS
from recurrent_mt.evaluation.plots import LEGEND_ROW, list_plots
from recurrent_mt.evaluation.scores import Settings, score_systems
from recurrent_mt.evaluation.tables import Group, group_tables
from tests.evaluation.test_sets import forgetful, perfect, small

LENGTHS = ["source length", "reference length", "length of both sides"]
#: First that of no side.
UNKNOWN = [
    *("unknown words", "unknown words, source", "unknown words, reference", "unknown words, either"),
    "unknown words, either, 10–20 words",
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


def artists(figure):
    return {artist.get_gid(): artist for artist in figure.axes[0].get_children() if artist.get_gid()}


def test_a_system_keeps_its_color_where_another_one_has_no_dictionary(records):
    found = artists(draw(records, "unknown words, source"))
    assert {name[: len("system-1")] for name in found} == {"system-1"}
    assert found["system-1-part-0"].get_color() == COLORS[1]


def test_a_line_has_a_gap_at_lengths_without_sentences(records):
    lengths, means = artists(draw(records, "along source length"))["system-0-line"].get_data()
    # The sentences have 1, 2, 3, 6 and 8 words.
    assert list(lengths) == list(range(1, 9))
    assert [bool(np.isnan(mean)) for mean in means] == [False, False, False, True, True, False, True, False]


def test_lengths_are_whole_numbers(records):
    figure = draw(records, "along source length")
    assert all(tick == int(tick) for axes in figure.axes for tick in axes.get_xticks())


def test_long_names_are_cut_and_dollar_signs_are_no_formula(records):
    figure = draw(records, "along source length")
    figure.canvas.draw()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["$a$b$ {", "f" * 18 + "…" + "f" * 17]


LONG = "gru_encoder+dropout=0.3+decoder_attention=additive+label_smoothing=0.1"


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ([f"{LONG}+x", f"{LONG}+y"], [f"gru_encoder+dropou…l_smoothing=0.1+{x}" for x in "xy"]),
        (["a" * 36, "b" * 37], ["a" * 36, "b" * 18 + "…" + "b" * 17]),
        ([f"{'a' * 20}{x}{'b' * 20}" for x in "xy"], [f"{'a' * 20}{x}{'b' * 15}\n{'b' * 5}" for x in "xy"]),
    ],
)
def test_long_names_can_be_told_apart_in_a_legend(records, names, shown):
    renamed = dict(zip(records["system"].unique(), names))
    figure = draw(records.assign(system=records["system"].map(renamed)), "along source length")
    figure.canvas.draw()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == shown
    box = legend.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0
    (other,) = draw(records, "along source length").legends
    lines = sum(text.count("\n") for text in shown)
    assert figure.get_figheight() == pytest.approx(other.figure.get_figheight() + LEGEND_ROW * lines)


@pytest.mark.parametrize("by", ["along source length", "unknown words, source"])
def test_names_that_begin_with_an_underscore_are_in_the_legend(records, by):
    names = {name: f"_{name}" for name in records["system"].unique()}
    (legend,) = draw(records.assign(system=records["system"].map(names)), by).legends
    found = [text.get_text() for text in legend.get_texts()]
    assert found and all(name.startswith("_") for name in found)
