"""The command line: figures of a small run, and what stops it."""

import json

import pytest
import torch

from benchmarks import __main__ as command
from benchmarks import measurement
from benchmarks.tables import check_same_machine, compare, load
from recurrent_mt.kernels.dispatch import using
from recurrent_mt.kernels.grconv import GRCONV
from recurrent_mt.kernels.gru import GRU
from tests.kernels.batches import needs_native

QUICK = ["--quick", "--seconds", "0", "--threads", str(torch.get_num_threads()), "--parts", "time"]


def test_a_benchmark_writes_what_it_prints(tmp_path, capsys):
    file = tmp_path / "figures.json"
    command.main([*QUICK, "--cases", "translation", "--json", str(file)])
    run = load(file)
    (case,) = run["cases"]
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
    check_same_machine(run, run)
    assert all(line.endswith("times 1.00") for line in compare(run, run))


@pytest.mark.parametrize("dtype", ["float32", "autocast"])
@pytest.mark.parametrize("cases", ["grconv_layer", "encoder", "decoder", "training_step"])
def test_a_family_of_cases_is_timed_in_this_precision(cases, dtype, tmp_path, capsys):
    file = tmp_path / "figures.json"
    command.main([*QUICK, "--cases", cases, "--dtype", dtype, "--json", str(file)])
    records = json.loads(file.read_text())["cases"]
    assert len(records) == len(command.FAMILIES[cases].quick)
    assert all("stock" in record["seconds"] or cases == "grconv_layer" for record in records)


def test_growth_has_the_exponents_of_the_operations(tmp_path, capsys):
    file = tmp_path / "figures.json"
    command.main([*QUICK[:-1], "growth", "--cases", "grconv_layer", "--json", str(file)])
    length, sentences = json.loads(file.read_text())["growth"]
    assert (length["quantity"], sentences["quantity"]) == ("length", "sentences")
    assert length["sizes"] == [4, 8, 16] and len(length["seconds"]) == 3
    # Pyramids of n leaves have n (n − 1) / 2 nodes, and a batch of twice as many sentences twice as many pyramids.
    assert 2 < length["exponents"]["operations"] < 2.5
    assert sentences["exponents"]["operations"] == pytest.approx(1)


def test_a_profile_adds_up_to_the_whole(tmp_path, capsys):
    file = tmp_path / "figures.json"
    with using("packed"):
        command.main([*QUICK[:-1], "profile", "--cases", "encoder", "--json", str(file)])
    for record in json.loads(file.read_text())["profiles"]:
        assert 0 < record["products"] < 1 and 0 < record["between"] < 1
        assert not set(record["operations"]) & {"mm", "addmm", "addmm_", "bmm"} and "tanh" in str(record["operations"])
        assert record["products"] + record["between"] + sum(record["operations"].values()) == pytest.approx(1)
    assert "| encoder, RNNsearch, tiny" in capsys.readouterr().out


@needs_native
def test_native_operations_have_their_shares_of_a_profile(tmp_path):
    file = tmp_path / "figures.json"
    command.main([*QUICK[:-1], "profile", "--cases", "encoder", "--json", str(file)])
    for record in json.loads(file.read_text())["profiles"]:
        kernel = {"grConv": "grconv", "dilated grConv": "dilated"}.get(record["shape"]["system"], "gru")
        assert any(name.startswith(kernel) for name in record["operations"])


def wrong_grconv(*arguments, **options):
    output = packed_grconv(*arguments, **options)
    return output._replace(summaries=output.summaries * 1.001)


def wrong_gru(*arguments, **options):
    return packed_gru(*arguments, **options) * 1.001


packed_grconv, packed_gru = GRCONV.implementations["packed"], GRU.implementations["packed"]


@pytest.mark.parametrize(
    ("cases", "kernel", "wrong"), [("grconv_layer", GRCONV, wrong_grconv), ("translation", GRU, wrong_gru)]
)
def test_a_kernel_that_is_wrong_is_not_timed(cases, kernel, wrong, tmp_path, monkeypatch):
    monkeypatch.setitem(kernel.implementations, "packed", wrong)
    monkeypatch.setattr(measurement, "time_in_turn", lambda *_, **__: pytest.fail("it was timed"))
    file = tmp_path / "figures.json"
    with (
        using("packed"),
        pytest.raises(SystemExit, match=r"from the reference.* is allowed in torch\.float32\. Nothing was timed"),
    ):
        command.main([*QUICK, "--cases", cases, "--json", str(file)])
    assert not file.exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--device", "cuda"], "--device cuda: torch sees no GPU"),
        (["--threads", "0"], "--threads must be at least 1, not 0"),
        (["--parts", "memory"], "memory is measured with time or growth"),
        (["--parts", "memory", "profile"], "memory is measured with time or growth"),
        (["--json", "nowhere/figures.json"], "--json nowhere/figures.json: there is no folder nowhere"),
    ],
)
def test_a_benchmark_that_cannot_run_is_refused_at_once(options, message, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match=message):
        command.main(options)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_benchmark_runs_on_a_gpu(dtype, capsys):
    # Each memory is measured by a process of its own.
    command.main([*QUICK, "--device", "cuda", "--dtype", dtype])
    command.main([*QUICK, "--device", "cuda", "--dtype", dtype, "--parts", "time", "memory", "--cases", "encoder"])
