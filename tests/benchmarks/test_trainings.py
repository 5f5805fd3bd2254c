"""How many updates trainings make in the same hours: parameters, batches, and what stops it."""

import re

import pytest

from benchmarks import trainings
from tests.cli import toy


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trainings")
    toy.write_corpus(folder)
    toy.preprocess(folder, folder / "bin", "--joined-dictionary")
    return folder / "bin"


def line_of(data, *flags):
    words = (data, "--user-dir", toy.PLUGIN, *toy.TRAINING, *flags)
    return " ".join(str(word) for word in words)


def small(arch):
    attention = "1" if arch == "lstm" else "general"
    return ("--arch", arch, *toy.SMALL, "--share-all-embeddings", "--decoder-attention", attention)


def transformer(data):
    widths = (f"--{side}-embed-dim 24 --{side}-layers 1 --{side}-ffn-embed-dim 48" for side in ("encoder", "decoder"))
    return line_of(data, "--arch transformer --share-all-embeddings", *widths)


def two_seconds(runs, *, seconds):
    """Takes the place of the clock."""
    for run in runs.values():
        run()
    return {name: [1.0, 2.0, 9.0] for name in runs}


def test_each_training_has_its_size_its_speed_and_its_updates(data, monkeypatch, capsys):
    monkeypatch.setattr(trainings, "time_in_turn", two_seconds)
    ours = f"ours={line_of(data, *small('gru_encoder'))}"
    trainings.main(["--hours", "2", "--batches", "2", ours, f"transformer={transformer(data)}"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| | parameters | target words a second | updates in 2 h |"
    rows = [re.findall(r"[^|\s]+", line.replace(",", "")) for line in lines[2:]]
    trainers = [trainings.build_trainer(line.split()) for line in (ours.partition("=")[2], transformer(data))]
    sizes = [sum(weight.numel() for weight in trainer.model.parameters()) for trainer in trainers]
    # Those that fairseq's transformer keeps are not counted.
    copies = 24 * 3 * (24 + 1) + 24 * (24 + 1) + 24 * 48 * 2 + 24 + 48
    words = sum(batch["ntokens"] for batch in trainings.first_batches(trainers[0], 2)) / 2
    for row, name, size in zip(rows, ("ours", "transformer"), (sizes[0], sizes[1] - copies), strict=True):
        assert row == [name, str(size), f"{words / 2:.0f}", "3600"]


def test_trainings_that_cannot_be_compared_are_refused(data, capsys):
    one = f"one={line_of(data, *small('lstm'))}"
    two = f"two={line_of(data, *small('lstm'), '--max-tokens', 900)}"
    with pytest.raises(
        SystemExit, match="error: two and one have different dictionaries, --max-tokens, or --batch-size"
    ):
        trainings.main(["--seconds", "0", one, two])
    with pytest.raises(SystemExit, match="error: one has --update-freq, and a batch is timed"):
        trainings.main(["--seconds", "0", f"{one} --update-freq 8"])
    with pytest.raises(SystemExit):
        trainings.main([one, "one=data"])
    assert "not a NAME=ARGUMENTS with a name of its own: one=data" in capsys.readouterr().err
