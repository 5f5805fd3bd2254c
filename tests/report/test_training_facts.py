from math import isnan
from shutil import copy

import pytest

from recurrent_mt.evaluation.tables import select
from recurrent_mt.evaluation.training import read_shown_trainings
from recurrent_mt.evaluation.translated_files import read_runs
from recurrent_mt.text_files import FileError
from tests.evaluation.test_analysis import make_run

TRAIN = """\
INFO | fairseq_cli.train | num. shared model params: {parameters:,} (num. trained: {parameters:,})
INFO | train_inner | {{"epoch": 1, "num_updates": "100", "loss": "5", "wps": "1000", "wpb": "500", "wall": "50"}}
INFO | train_inner | {{"epoch": 1, "num_updates": "{updates}", "loss": "4", "wps": "1000", "wpb": "500", "wall": "90"}}
INFO | valid | {{"epoch": 1, "valid_loss": "{loss}", "valid_num_updates": "{updates}", "valid_wall": "100"}}
"""
TEST = """\
S-0\tun chat
H-0\t-0.5\ta cat
D-0\t-0.5\ta cat
P-0\t-0.5 -0.5 -0.5
INFO | Translated 1 sentences (3 tokens) in 0.1s ({speed} sentences/s, 30.00 tokens/s)
Generate test with beam=5: BLEU4 = 10
"""


def write_logs(run, system, seed, *, parameters=1000, updates=200, loss=3, speed=20.0):
    folder = run / "systems" / system / f"seed-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.log").write_text(TRAIN.format(parameters=parameters, updates=updates, loss=loss))
    if speed:
        (folder / "test.log").write_text(TEST.format(speed=speed))


def read_trainings(runs):
    """The trainings of every system in the folders."""
    return read_shown_trainings(read_runs(runs)[1])


def costs_of(records, system):
    """Metric to value over all seeds."""
    return select(records, by="training", system=system).set_index("metric")["value"]


def test_seeds_are_averaged_and_gaps_stay_gaps(tmp_path):
    run = make_run(tmp_path / "run")
    write_logs(run, "forgetful", 1, updates=200, loss=3, speed=20.0)
    write_logs(run, "forgetful", 2, updates=300, loss=2, speed=40.0)
    write_logs(run, "perfect", 1, parameters=5, speed=None)
    records = read_trainings([run])
    forgetful, perfect = (costs_of(records, name) for name in ("forgetful", "perfect"))
    assert (forgetful["parameters"], forgetful["updates"]) == (1000, 250)
    assert (forgetful["validation loss"], forgetful["training seconds"]) == (2.5, 100)
    assert forgetful["words/s, training"] == pytest.approx(1000)
    assert forgetful["sentences/s, translation"] == 30
    assert perfect["parameters"] == 5 and isnan(perfect["sentences/s, translation"])
    assert set(records["seed"]) == {"1", "2", ""}


def test_trainings_that_have_not_ended_do_not_count(tmp_path):
    """One at work, or stopped, has not translated the test set; the log of one that has only begun says nothing."""
    run = make_run(tmp_path / "run")
    write_logs(run, "perfect", 1, updates=1000, loss=3)
    write_logs(run, "perfect", 2, updates=100, loss=9, speed=None)
    (run / "systems/perfect/seed-3").mkdir()
    (run / "systems/perfect/seed-3/train.log").write_text("INFO | fairseq_cli.train | loading\n")
    records = read_trainings([run])
    costs = costs_of(records, "perfect")
    assert (costs["updates"], costs["validation loss"]) == (1000, 3)
    assert set(records["seed"]) == {"1", ""} and set(records["n"]) == {1}


def test_systems_without_logs_are_not_shown_and_names_are_those_of_the_study(tmp_path):
    runs = [make_run(tmp_path / name) for name in ("one", "two")]
    write_logs(runs[1], "perfect", 1)
    assert read_trainings([runs[0]]).empty
    assert set(read_trainings(runs)["system"]) == {"two/perfect"}


def test_a_system_without_a_translation_changes_no_name(tmp_path):
    runs = [make_run(tmp_path / name) for name in ("one", "two")]
    write_logs(runs[0], "perfect", 1)
    for file in (runs[1] / "systems" / "perfect").glob("seed-*/*"):
        file.unlink()
    assert set(read_trainings(runs)["system"]) == {"perfect"}


def test_damaged_logs_are_named(tmp_path):
    run = make_run(tmp_path / "run")
    write_logs(run, "perfect", 1)
    (run / "systems/perfect/seed-1/test.log").write_text("S-0\tun chat\n")
    with pytest.raises(FileError, match=r"perfect/seed-1/test\.log"):
        read_trainings([run])
    write_logs(run, "perfect", 1)
    write_logs(run, "perfect", 2, parameters=7)
    copy(run / "systems/perfect/seed-1/test.detokenized", run / "systems/perfect/seed-2")
    with pytest.raises(ValueError, match="perfect: its seeds have 7 and 1000 parameters"):
        read_trainings([run])
