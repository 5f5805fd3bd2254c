"""Two runs side by side."""

import json

import pytest

from benchmarks import __main__ as command

MACHINE = {
    "processor": "abacus",
    "cores": 2,
    "device": "cpu",
    "torch": "2.13.0",
    "threads": 1,
    "dtype": "float32",
    "stock_dtype": "float32",
    "float32_products": "highest",
    "python": "3.11",
}


def spread(median, width=0.1):
    return {"median": median, "low": median - width, "high": median + width}


def case(width, ratio, speed=None, memory=None):
    record = {
        "case": "layer",
        "shape": {"width": width, "lengths": "mixed"},
        "ratio_to_recorded_products": spread(ratio),
    }
    if speed is not None:
        record["speed_over_stock"] = spread(speed)
    if memory is not None:
        record["memory"] = {"ours": memory}
    return record


def compare(tmp_path, capsys, old, new, machine=None):
    for name, cases, facts in (("old", old, MACHINE), ("new", new, machine or MACHINE)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"machine": facts, "cases": cases}))
    command.main(["compare", str(tmp_path / "old.json"), str(tmp_path / "new.json")])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (case(8, 2.0), case(8, 3.0), ["ratio to recorded products 2.00 → 3.00, times 1.50, worse"]),
        (case(8, 2.0), case(8, 2.1), ["ratio to recorded products 2.00 → 2.10, times 1.05"]),
        (
            case(8, 2.0, speed=1.0, memory=10_000_000),
            case(8, 2.0, speed=1.5, memory=5_000_000),
            [
                "ratio to recorded products 2.00 → 2.00, times 1.00",
                "speed over stock 1.00 → 1.50, times 1.50, better",
                "peak memory 10 → 5 MB, times 0.50",
            ],
        ),
        (case(8, 2.0, speed=1.5), case(8, 2.0), ["ratio to recorded products 2.00 → 2.00, times 1.00"]),
    ],
)
def test_changes_outside_the_spread_are_marked(tmp_path, capsys, old, new, expected):
    assert compare(tmp_path, capsys, [old], [new]) == [f"layer, width 8, mixed: {line}" for line in expected]


def test_cases_of_one_run_alone_are_said_to_be(tmp_path, capsys):
    assert compare(tmp_path, capsys, [case(8, 2.0), case(9, 2.0)], [case(9, 2.0), case(10, 2.0)]) == [
        "layer, width 8, mixed: only in the old run",
        "layer, width 9, mixed: ratio to recorded products 2.00 → 2.00, times 1.00",
        "layer, width 10, mixed: only in the new run",
    ]


def test_what_makes_runs_different_comes_first(tmp_path, capsys):
    machine = {**MACHINE, "processor": "calculator", "threads": 2, "python": "3.12"}
    lines = compare(tmp_path, capsys, [case(8, 2.0)], [case(8, 1.0)], machine=machine)
    assert lines[:2] == ["processor: abacus → calculator", "threads: 1 → 2"] and len(lines) == 3
