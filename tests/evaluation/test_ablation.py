from pathlib import Path
from statistics import mean, stdev

import mpmath
import pytest

from recurrent_mt.evaluation.comparison import STUDENT, SeedNoise, compare_runs, pool_seed_noise
from recurrent_mt.evaluation.scores import Settings
from recurrent_mt.evaluation.tables import Record, make_frame
from recurrent_mt.evaluation.translated_files import TrainedRuns
from recurrent_mt.metrics import score
from tests.commands import call
from tests.evaluation.test_analysis import make_run, write_lines

ROOT = Path(__file__).parents[3]


def rows_of(table):
    """Each row as text."""
    return [[name, *map(str, row)] for name, row in zip(table.names, table.rows, strict=True)]


def read(folders, *cells, base="forgetful"):
    settings = Settings(detailed=(), resamples=50)
    return compare_runs(TrainedRuns(folders, cells), settings, baseline=base, ablation="mine")


def table_of(*arguments, **options):
    (table,) = read(*arguments, **options).tables()
    return table


@pytest.fixture
def run(tmp_path):
    folder = make_run(tmp_path / "run")
    systems = folder / "systems"
    write_lines(systems / "forgetful" / "seed-1" / "operations.json", ['{"per_token": 2500000.0}'])
    write_lines(systems / "forgetful" / "seed-2" / "operations.json", ['{"per_token": 3500000.0}'])
    write_lines(systems / "exploded" / "seed-1" / "outcome", ["diverged", "diverged: loss or gradient is not a number"])
    write_lines(systems / "of-another-ablation" / "seed-1" / "outcome", ["failed", "out of memory"])
    return folder


def test_cells_in_the_order_asked_for_with_what_failed(run):
    table = table_of([run], "perfect", "exploded", "forgetful", "missing")
    header, rows = table.header, rows_of(table)
    assert header[:2] == ["Cell", "BLEU"] and header[4] == "BLEU against forgetful"
    assert [row[0] for row in rows] == ["perfect", "exploded", "forgetful", "missing"]
    assert rows[1][1:5] == ["failed", "–", "–", "–"]
    assert rows[3][1:5] == ["not yet", "–", "–", "–"]
    forgetful = dict(zip(header, rows[2]))
    assert forgetful["BLEU against forgetful"] == "–" and forgetful["MFLOP a token"] == "3.00"
    assert "exploded, seed 1, failed: diverged: loss or gradient is not a number." in table.notes
    assert not any("another-ablation" in note for note in table.notes)


def test_an_ablation_needs_no_training_text(run):
    (run / "text" / "input" / "train.en").unlink()
    assert read([run], "forgetful", "perfect").test_sets[0].signatures


def test_distances_are_those_of_the_scores(run):
    references = (run / "text" / "raw" / "test.en").read_text().splitlines()
    means = {}
    for name in ("forgetful", "perfect"):
        files = sorted((run / "systems" / name).glob("seed-*/test.detokenized"))
        scores = [score("bleu", file.read_text().splitlines(), references).value for file in files]
        means[name] = sum(scores) / len(scores)
    row = rows_of(table_of([run], "forgetful", "perfect"))[1]
    assert row[0] == "perfect"
    assert row[4].rstrip("†") == f"{means['perfect'] - means['forgetful']:+.2f}"


def test_without_the_baseline_the_first_one_takes_its_place(run):
    table = table_of([run], "perfect", "missing", base="missing")
    assert table.header[4] == "BLEU against perfect" and rows_of(table)[1][1:5] == ["not yet", "–", "–", "–"]
    assert "missing has no translation: the others are compared with perfect." in table.notes


def test_an_ablation_of_which_all_failed_says_so(run):
    table = table_of([run], "exploded", base="exploded")
    assert table.header[1] == "parameters"
    assert table.notes == [
        "exploded, seed 1, failed: diverged: loss or gradient is not a number.",
        "No system has a translation.",
    ]


def test_a_cell_in_two_folders_is_refused(run, tmp_path):
    other = make_run(tmp_path / "other")
    with pytest.raises(ValueError, match=r"system forgetful is in two folders: .*run.* and .*other"):
        read([run, other], "forgetful")


def test_the_noise_of_seeds_is_pooled():
    scores = {"a": [10.0, 12.0], "b": [3.0, 3.0, 6.0], "c": [10.0]}
    records = []
    for name, values in scores.items():
        records += [Record(name, "BLEU", value, seed=str(seed)) for seed, value in enumerate(values)]
        records.append(Record(name, "BLEU", mean(values), sd=stdev(values) if len(values) > 1 else None))
    # By hand: variances 2 (one degree) and 3 (two degrees): (2 + 6) / 3.
    assert pool_seed_noise(make_frame(records), "BLEU") == SeedNoise(pytest.approx((8 / 3) ** 0.5), 3)
    assert pool_seed_noise(make_frame(records[-2:]), "BLEU") is None


@pytest.mark.parametrize("degrees", [1, 11, 300])
def test_fewer_seeds_need_a_greater_difference(degrees):
    noise = SeedNoise(1.0, degrees)
    tabled = max(known for known in STUDENT if known <= degrees)
    errors = noise.standard_errors
    # The chance of a greater difference in either direction: the regularized incomplete beta function.
    chance = mpmath.betainc(tabled / 2, 0.5, 0, tabled / (tabled + errors**2), regularized=True)
    assert float(chance) == pytest.approx(0.05, abs=1e-4)
    assert not noise.tells_apart(errors - 0.1, [2, 2]) and noise.tells_apart(-errors - 0.1, [2, 2])


@pytest.mark.parametrize("tool", ["analyze", "report", "compare"])
def test_resamples_that_give_no_interval_are_refused(run, tmp_path, tool):
    done = call(tool, run, "--resamples", 1, "--out", tmp_path / "out")
    assert done.returncode == 1 and "resamples is 1: 0 for no interval" in done.stderr
