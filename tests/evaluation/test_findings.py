"""Who is ahead, every pair tested, and what long sentences do."""

import re

import pytest

from recurrent_mt.evaluation.analysis import analyze
from recurrent_mt.evaluation.findings import (
    Change,
    compare_pairs,
    describe_changes,
    format_p,
    main_metric,
    pair_table,
    write_headline,
)
from recurrent_mt.evaluation.scores import Settings
from recurrent_mt.evaluation.tables import select
from recurrent_mt.evaluation.translated_files import System
from tests.evaluation.test_sets import forgetful, perfect, small


def count(*systems, metric="chrf", resamples=20, **changes):
    test_set = small(copies=5, **changes)
    settings = Settings((metric,), (metric,), resamples=resamples, limits=(3, 6), fewest=5)
    return analyze(test_set, [make(test_set) for make in systems], settings=settings)


def headline(analysis):
    metric = main_metric(analysis)
    return write_headline(analysis, compare_pairs(analysis, metric), metric)


def silent(test_set):
    return System("silent", {"1": [""] * len(test_set)})


def again(test_set):
    return perfect(test_set, "again")


def test_every_pair_is_tested_as_those_with_the_baseline_are():
    analysis = count(forgetful, perfect, silent)
    pairs = {(one.system, one.other): one for one in compare_pairs(analysis, "chrF2")}
    assert list(pairs) == [("perfect", "forgetful"), ("silent", "forgetful"), ("silent", "perfect")]
    scores = select(analysis.records, metric="chrF2", by="all").set_index("system")
    for (system, other), pair in pairs.items():
        assert pair.value == scores["value"][system] - scores["value"][other]
        assert other != "forgetful" or pair.p == scores["p"][system]
    assert pairs["silent", "perfect"].p == pytest.approx(1 / 21)
    table = pair_table(list(pairs.values()), "chrF2", analysis.names)
    assert table.header[1:] == ["forgetful", "perfect"] and table.names == ["perfect", "silent"]
    assert [[str(cell) for cell in row][1] for row in table.rows] == ["", "-100.00 (p = 0.048)*"]
    assert "3 tests: if no system differed, chance alone would give 0.2 stars." in table.notes


@pytest.mark.parametrize(
    ("systems", "settings", "expected"),
    [
        ([perfect], {}, "perfect has 100.0 chrF2."),
        ([forgetful, perfect], {}, "perfect is ahead of forgetful by N chrF2 (100.0 against N; p = 0.048)."),
        (
            [forgetful, perfect],
            {"resamples": 0},
            "perfect is ahead of forgetful by N chrF2 (100.0 against N; not tested).",
        ),
        ([perfect, again], {}, "perfect and again cannot be told apart by chrF2 (100.0 against 100.0; p = 1.000)."),
        (
            [silent, perfect],
            {"metric": "ter"},
            "perfect is ahead of silent by 100.0 TER (0.0 against 100.0, lower is better; p = 0.048).",
        ),
    ],
)
def test_the_headline_says_who_is_ahead_and_how_sure_that_is(systems, settings, expected):
    pattern = re.escape(expected).replace("N", r"[\d.]+")
    assert re.fullmatch(pattern, headline(count(*systems, **settings))[0])


def test_no_p_is_printed_as_zero():
    assert [format_p(p) for p in (1, 0.001, 1 / 3001)] == ["p = 1.000", "p = 0.001", "p < 0.001"]


def test_others_follow_and_long_sentences_are_told_by_system():
    analysis = count(silent, forgetful, perfect)
    _, behind, long = headline(analysis)
    assert behind == "Behind them: silent (0.0)."
    # Of nothing, there is no percentage.
    falls, _, others = long.partition(" and ")
    assert re.fullmatch(r"Beyond 3 source words, chrF2 falls for forgetful \(\d+%, \d+ to \d+%\)", falls)
    assert others == "shows no sure change for perfect."
    _, unsure = headline(count(perfect, again))
    assert unsure == "Beyond 3 source words, chrF2 shows no sure change for perfect and again."


def test_what_rises_and_what_has_no_interval_is_told():
    changes = [Change("a", 12.4, 5.0, 20.0), Change("b", -50.0), Change("c", 3.0)]
    assert describe_changes(changes, "BLEU") == "BLEU falls for b (50%) and rises for a (12%, 5 to 20%) and c (3%)"
    analysis = count(silent, perfect, metric="ter", resamples=0)
    table = pair_table(compare_pairs(analysis, "TER"), "TER", analysis.names)
    assert table.notes == ["Below 0, the row's system is better."] and str(table.rows[0][0]) == "-100.00"


def test_few_long_sentences_say_nothing():
    words = [["a"]] * 30
    assert headline(count(forgetful, perfect, source_words=words, reference_words=words))[1:] == []
