"""The command line: figures of a small run."""

import json

import pytest
import torch

from benchmarks import __main__ as command
from benchmarks.tables import compare

QUICK = ["--quick", "--seconds", "0", "--threads", str(torch.get_num_threads()), "--parts", "time"]


def test_a_benchmark_writes_what_it_prints(tmp_path, capsys):
    file = tmp_path / "figures.json"
    command.main([*QUICK, "--cases", "translation", "--json", str(file)])
    run = json.loads(file.read_text())
    case, _ = run["cases"]
    assert run["machine"]["torch"] == torch.__version__ and run["machine"]["dtype"] == "float32"
    assert case["seconds"].keys() == {"ours", "stock", "products"}
    assert case["amount"] == 3 and case["unit"] == "sentences" and case["rounds"] == 3
    assert (
        case["ratio_to_recorded_products"]["low"]
        <= case["ratio_to_recorded_products"]["median"]
        <= case["ratio_to_recorded_products"]["high"]
    )
    printed = capsys.readouterr().out
    assert f"torch {torch.__version__}" in printed
    assert f"{case['speed_over_stock']['median']:.2f}" in printed
    assert list(tmp_path.iterdir()) == [file]
    assert all(line.endswith("times 1.00") for line in compare(run, run))


@pytest.mark.parametrize(
    ("cases", "dtype"), [("encoder", "float32"), ("decoder", "autocast"), ("training_step", "float32")]
)
def test_a_family_of_cases_is_timed(cases, dtype, tmp_path, capsys):
    file = tmp_path / "figures.json"
    command.main([*QUICK, "--cases", cases, "--dtype", dtype, "--json", str(file)])
    records = json.loads(file.read_text())["cases"]
    assert len(records) == len(command.FAMILIES[cases].quick)
    assert all("stock" in record["seconds"] for record in records)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_benchmark_runs_on_a_gpu(dtype, capsys):
    # Each memory is measured by a process of its own.
    command.main([*QUICK, "--device", "cuda", "--dtype", dtype])
    command.main([*QUICK, "--device", "cuda", "--dtype", dtype, "--parts", "time", "memory", "--cases", "encoder"])
