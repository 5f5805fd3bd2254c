"""Turns, medians, quartiles, peaks."""

import pytest
import torch

from benchmarks import measurement
from benchmarks.case import Case, Family, Setting
from benchmarks.measurement import FEWEST, MOST, Spread, measure_here, peak_memory, ratios, time_in_turn
from benchmarks.systems import model_shape


def test_a_spread_is_the_median_and_the_quartiles():
    assert Spread.of([1, 2, 3, 4, 100]) == Spread(median=3, low=2, high=4)


def test_ratios_are_taken_within_a_round():
    # The machine was ten times slower in the third round, for both.
    assert ratios([2, 4, 30, 2.2], [1, 2, 10, 1]) == Spread.of([2, 2, 3, 2.2])


@pytest.mark.parametrize(("seconds", "rounds"), [(0.0, FEWEST), (60.0, MOST)])
def test_each_runs_once_per_round_and_none_is_always_first(seconds, rounds):
    calls = []
    taken = time_in_turn({name: lambda name=name: calls.append(name) for name in "ab"}, seconds=seconds)
    assert {name: len(times) for name, times in taken.items()} == {"a": rounds, "b": rounds}
    assert "".join(calls[:8]) == "ab" + "ab" + "ba" + "ab"


def case_of(megabytes):
    def run():
        return sum(torch.stack([torch.ones(10_000) for _ in range(25 * megabytes)]).shape)

    # As a model that has run before: what the C library keeps of it must not hide what is taken again. Pieces this
    # small are not handed back one by one.
    pieces = [torch.ones(10_000) for _ in range(25 * megabytes)]
    barrier = torch.ones(10_000)
    pieces.clear()
    return Case({"ours": lambda: (run(), barrier), "stock": run}, "words", 1)


@pytest.fixture
def family(monkeypatch):
    quick = {"megabytes": 1}
    made = Family("made", "", lambda setting, megabytes: case_of(megabytes), (), (quick,))
    monkeypatch.setattr(measurement, "FAMILIES", {"made": made})


@pytest.mark.parametrize("megabytes", [40, 80])
def test_the_peak_is_what_a_run_takes(family, megabytes):
    threads = torch.get_num_threads()
    # The pieces and the stack that is made of them.
    taken = measure_here("made", {"megabytes": megabytes}, "ours", Setting(threads=threads)) / 1e6
    assert taken == pytest.approx(2 * megabytes, rel=0.1, abs=2)


@pytest.mark.slow
def test_memory_is_measured_in_a_process_of_its_own():
    shape = model_shape("grConv", "tiny", 64, 40, "alike")
    held = 4 * 10 * 64 * sum(range(1, 32))
    assert held < peak_memory("encoder", shape, "ours", Setting()) < 40 * held
