"""Comparisons of translations in files: the scores of the metrics, with what is asked for beside them."""

import json

import pytest

from recurrent_mt.evaluation.comparison import compare_translations
from recurrent_mt.evaluation.scores import Settings
from recurrent_mt.evaluation.tables import PAIRED_TEST, tables_as_text
from recurrent_mt.evaluation.translated_files import System, TestSet
from recurrent_mt.metrics import METRICS, randomization_p_value, score, statistics
from tests.metrics.translations import references, translations

REFERENCES = references(20)
SYSTEMS = {
    "ours": translations(REFERENCES, errors=0.2),
    "theirs": translations(REFERENCES, errors=0.5, seed=3),
}


def compared(count=20, lowercase=False, language="", **options):
    """The first sentences of both, without intervals and test unless asked for."""
    settings = Settings(**{"metrics": ["bleu"], "detailed": (), "resamples": 0, "paired": False, **options})
    systems = [System(name, {"1": lines[:count]}) for name, lines in SYSTEMS.items()]
    return compare_translations(TestSet(REFERENCES[:count], language, lowercase), systems, settings)


def text_lines(comparison):
    return tables_as_text(comparison.tables()).splitlines()


def signature(comparison):
    (found,) = comparison.test_sets[0].signatures.values()
    return found


def test_scores_are_those_of_the_metrics():
    expected = {
        name: [score(metric, lines, REFERENCES, lowercase=True) for metric in METRICS]
        for name, lines in SYSTEMS.items()
    }
    header, _, ours, theirs, _, *notes = text_lines(compared(metrics=list(METRICS), lowercase=True))
    assert header.split() == ["System", "BLEU", "chrF2", "TER", "METEOR"]
    assert ours.split() == ["ours", *(f"{one.value:.2f}" for one in expected["ours"])]
    assert theirs.split() == ["theirs", *(f"{one.value:.2f}" for one in expected["theirs"])]
    assert notes == [*(f"{one.name}: {one.signature}" for one in expected["ours"]), "TER: lower is better."]


def test_options_reach_the_metrics():
    comparison = compared(language="zh", resamples=10, seed=4)
    expected = score("bleu", SYSTEMS["ours"], REFERENCES, target_language="zh", resamples=10, seed=4)
    assert signature(comparison) == expected.signature
    low, high = comparison.records[["low", "high"]].dropna().iloc[0]
    assert (low, high) == (expected.interval.low, expected.interval.high)
    assert "tok:char" in signature(compared(tokenize="char"))


def test_a_paired_test():
    comparison = compared(metrics=["chrf"], paired=True, resamples=50, seed=2)
    expected = score("chrf", SYSTEMS["ours"], REFERENCES, resamples=50, seed=2)
    header, _, ours, theirs, *_, intervals, against = text_lines(comparison)
    assert header.split() == ["System", "chrF2", "95%", "p"]
    assert ours.split() == ["ours", f"{expected.value:.2f}", f"{expected.interval.half_width:.2f}", "–"]
    (p,) = comparison.records["p"].dropna()
    assert theirs.split()[-1] == f"{p:.4f}"
    assert intervals.startswith("95%: half of the 95% bootstrap interval")
    assert against == f"p: {PAIRED_TEST}, against ours."
    ours, theirs = (statistics("chrf", lines, REFERENCES) for lines in SYSTEMS.values())
    assert p == randomization_p_value([theirs], [ours], trials=50, seed=2)
    assert "|bs:50|ar:50|seed:2|" in signature(comparison)


@pytest.mark.parametrize("options", [{"resamples": 10}, {"paired": True}])
def test_one_sentence_has_no_columns_of_dashes(options):
    lines = text_lines(compared(count=1, **options))
    assert lines[0].split() == ["System", "BLEU"]
    assert "One sentence has no interval and no p-value." in lines


def test_json_is_unrounded_and_says_how(tmp_path):
    compared(resamples=10).write(tmp_path / "scores")
    result = json.loads((tmp_path / "scores.json").read_text())
    expected = {name: score("bleu", lines, REFERENCES, resamples=10) for name, lines in SYSTEMS.items()}
    found = {one["system"]: one for one in result["records"] if not one["seed"]}
    assert [one["value"] for one in found.values()] == [one.value for one in expected.values()]
    assert [one["low"] for one in found.values()] == [one.interval.low for one in expected.values()]
    (test_set,) = result["test_sets"]
    assert test_set["signatures"] == {"BLEU": expected["ours"].signature}
    assert test_set["details"]["BLEU"] == {name: {"1": one.details} for name, one in expected.items()}
