"""The mean of checkpoints: in each parameter's own format, with the last one's options, of one model's parameters."""

import pytest
import torch
from fairseq import checkpoint_utils

from tests.commands import call
from user_dir.cli.average import average_checkpoints


@pytest.fixture
def save(tmp_path):
    """Writes checkpoints 1.pt, 2.pt, …, one for each model, and returns their paths."""

    def write(*models, **extra_state):
        paths = []
        for number, model in enumerate(models, 1):
            state = {
                "args": None,
                "cfg": {"model": {"_name": "gru_encoder", "dropout": number / 10}},
                "model": model,
                "task_state": {},
                "extra_state": {name: values[number - 1] for name, values in extra_state.items()},
                "optimizer_history": [
                    {"criterion_name": "", "optimizer_name": "", "lr_scheduler_state": {}, "num_updates": number}
                ],
                "last_optimizer_state": {"step": number},
            }
            paths.append(tmp_path / f"{number}.pt")
            checkpoint_utils.torch_persistent_save(state, str(paths[-1]))
        return paths

    return write


@pytest.fixture
def average(tmp_path):
    def run(paths, **options):
        average_checkpoints(paths, tmp_path / "mean.pt", **options)
        return torch.load(tmp_path / "mean.pt")

    return run


def test_each_of_three_models_has_a_third_of_the_weight(save, average):
    models = ({"w": torch.tensor([1.0 * n, -n]), "version": torch.tensor([n, -n - 1])} for n in (1, 2, 7))
    found = average(save(*models))["model"]
    torch.testing.assert_close(found["w"], torch.tensor([10 / 3, -10 / 3]))
    # Whole numbers, such as counters, are rounded down.
    assert found["version"].tolist() == [3, -5] and found["version"].dtype is torch.int64


def test_a_checkpoint_is_not_overwritten_by_an_average_with_it(save, tmp_path):
    paths = save({"w": torch.ones(1)}, {"w": torch.ones(1)})
    before = paths[1].read_bytes()
    refused = call("average", *paths, "--out", paths[1])
    assert refused.returncode == 1 and f"{paths[1]} would be overwritten: choose another --out" in refused.stderr
    assert paths[1].read_bytes() == before


def test_narrow_formats_are_added_in_a_wide_one(save, average):
    """In its own, the sum of large numbers would be infinite."""
    found = average(save(*[{"w": torch.tensor([60000.0]).half()}] * 5))["model"]["w"]
    assert found.dtype is torch.float16 and found.item() == torch.tensor(60000.0).half()


def test_options_are_the_last_models_and_nothing_of_a_training_is_left(save, average):
    found = average(save(*({"w": torch.ones(1)} for _ in range(3)), best=[1, 2, 3]))
    assert found["cfg"]["model"] == {"_name": "gru_encoder", "dropout": 0.3}
    assert found["last_optimizer_state"] is None and "best" not in found["extra_state"]
    assert [one["num_updates"] for one in found["optimizer_history"]] == [0]


@pytest.mark.parametrize(
    "other", [{"w": torch.ones(2), "c": torch.ones(1)}, {"w": torch.ones(2, 1), "b": torch.ones(1)}]
)
def test_different_models_are_refused_by_name(other, save, average, tmp_path):
    one = {"w": torch.ones(2), "b": torch.ones(1)}
    paths = save(one, one, other)
    with pytest.raises(ValueError, match=r"3\.pt and \S+1\.pt hold different models: .* differ in name or shape"):
        average(paths)
    assert not (tmp_path / "mean.pt").exists()


def test_moving_averages_are_averaged_instead_where_they_are_asked_for(save, average):
    moving = [{"w": torch.tensor([float(n)])} for n in (10, 20)]
    paths = save({"w": torch.ones(1)}, {"w": torch.ones(1)}, ema=moving)
    assert average(paths, ema=True)["model"]["w"].item() == 15
    assert average(paths)["model"]["w"].item() == 1


def test_moving_averages_of_a_training_in_16_bits_are_those_of_32(save, average):
    exact = {"w": torch.tensor([1.001])}
    [path] = save({"w": torch.ones(1).bfloat16()}, ema=[{"w": torch.ones(1).bfloat16()}])
    state = torch.load(path)
    state["extra_state"]["ema_fp32_params"] = exact
    torch.save(state, path)
    assert average([path], ema=True)["model"]["w"].equal(exact["w"])


def test_what_cannot_be_averaged_is_named_by_the_command(save, tmp_path):
    (path,) = save({"w": torch.ones(1)})
    (tmp_path / "text.pt").write_text("no checkpoint")
    for arguments, message in (
        ([path, "--ema"], f"{path} has no moving average: it was trained without --store-ema"),
        ([path, tmp_path / "missing.pt"], f"there is no checkpoint {tmp_path}/missing.pt"),
        ([path, tmp_path / "text.pt"], f"{tmp_path}/text.pt cannot be loaded: "),
    ):
        done = call("average", *arguments, "--out", tmp_path / "mean.pt")
        assert done.returncode == 1 and message in done.stderr
        assert not (tmp_path / "mean.pt").exists()
    done = call("average", path, "--out", tmp_path / "mean.pt")
    assert done.returncode == 0 and done.stdout == f"{tmp_path}/mean.pt\n" and (tmp_path / "mean.pt").exists()
