import json

import pytest

from recurrent_mt.evaluation.file_scores import PAIRED_TESTS, Scoring, score_files
from recurrent_mt.evaluation.tables import tables_as_text
from recurrent_mt.metrics import METRICS, paired_bootstrap, paired_randomization, score, statistics
from tests.metrics.translations import references, translations

REFERENCES = references(20)
SYSTEMS = {
    "ours": translations(REFERENCES, errors=0.2),
    "theirs": translations(REFERENCES, errors=0.5, seed=3),
}


def score_all(**options):
    scoring = Scoring(**{"metrics": list(METRICS), **options})
    return score_files(SYSTEMS, REFERENCES, scoring)


def text_lines(scores):
    return tables_as_text([scores.table()]).splitlines()


def test_scores_are_those_of_the_metrics():
    scores = score_all(lowercase=True)
    columns = scores.columns
    for metric, column in zip(METRICS, columns, strict=True):
        assert [each.name for each in column] == list(SYSTEMS)
        for each, hypotheses in zip(column, SYSTEMS.values(), strict=True):
            assert each.score == score(metric, hypotheses, REFERENCES, lowercase=True)
            assert each.p_value is None
    header, _, ours, theirs, _, *notes = text_lines(scores)
    assert header.split() == ["System", "BLEU", "chrF2", "TER", "METEOR"]
    assert ours.split() == ["ours", *(f"{column[0].score.value:.2f}" for column in columns)]
    assert theirs.split()[0] == "theirs"
    assert notes == [
        *(f"{column[0].score.name}: {column[0].score.signature}" for column in columns),
        "TER: lower is better.",
    ]


def test_options_reach_the_metrics():
    (column,) = score_all(metrics=["bleu"], target_language="zh", confidence=10, seed=4).columns
    assert column[0].score == score("bleu", SYSTEMS["ours"], REFERENCES, target_language="zh", resamples=10, seed=4)
    (column,) = score_all(metrics=["bleu"], tokenize="char").columns
    assert "tok:char" in column[0].score.signature


def test_paired_tests():
    counts = {name: statistics("chrf", hypotheses, REFERENCES) for name, hypotheses in SYSTEMS.items()}
    expected = {
        "bootstrap": paired_bootstrap(counts, resamples=50, seed=2),
        "randomization": paired_randomization(counts, confidence=50, seed=2),
    }
    for test, results in expected.items():
        scores = score_all(metrics=["chrf"], paired=test, confidence=50, seed=2)
        (column,) = scores.columns
        assert [(each.score, each.p_value) for each in column] == [(each.score, each.p_value) for each in results]
        header, _, ours, theirs, *_, intervals, against = text_lines(scores)
        assert header.split() == ["System", "chrF2", "±", "p"]
        value, half_width = results[0].score.value, results[0].interval.half_width
        assert ours.split() == ["ours", f"{value:.2f}", f"{half_width:.2f}", "–"]
        assert theirs.split()[-1] == f"{results[1].p_value:.4f}"
        assert intervals.startswith("±: half of the 95% bootstrap interval")
        assert against == f"p: {PAIRED_TESTS[test]}, against ours."


def test_a_paired_bootstrap_has_a_thousand_resamples_by_default():
    (column,) = score_all(metrics=["ter"], paired="bootstrap").columns
    assert "|bs:1000|" in column[0].score.signature


@pytest.mark.parametrize("options", [{"confidence": 10}, {"paired": "bootstrap"}, {"paired": "randomization"}])
def test_one_sentence_has_no_columns_of_dashes(options):
    scoring = Scoring(["bleu"], **options)
    systems = {name: hypotheses[:1] for name, hypotheses in SYSTEMS.items()}
    text = tables_as_text([score_files(systems, REFERENCES[:1], scoring).table()])
    assert text.splitlines()[0].split() == ["System", "BLEU"]
    assert "One sentence has no interval and no p-value." in text


def test_json_is_unrounded_and_says_how(tmp_path):
    scores = score_all(metrics=["bleu"], confidence=10)
    scores.write(tmp_path / "scores")
    columns, result = scores.columns, json.loads((tmp_path / "scores.json").read_text())
    assert [record["value"] for record in result["records"]] == [each.score.value for each in columns[0]]
    assert result["options"]["confidence"] == 10
    ours, theirs = result["scores"]
    assert (ours["system"], theirs["system"]) == ("ours", "theirs")
    assert ours["score"]["value"] == columns[0][0].score.value
    assert ours["score"]["signature"] == columns[0][0].score.signature
    assert ours["score"]["interval"]["mean"] == columns[0][0].score.interval.mean
    assert ours["p_value"] is None


def test_intervals_alone():
    scores = score_all(metrics=["bleu"], confidence=10)
    header, _, *_, signature, note = text_lines(scores)
    assert header.split() == ["System", "BLEU", "±"]
    assert "|bs:10|" in signature
    assert note.startswith("±: half")


def test_a_number_of_resamples_without_meaning_is_refused_first():
    with pytest.raises(ValueError, match="resamples is 1"):
        score_all(confidence=1)
