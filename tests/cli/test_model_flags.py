"""What experiments request from fairseq-train: models of comparable size, and widths that a transformer can have."""

import pytest
import torch
from fairseq import options, tasks
from fairseq.data import Dictionary

from recurrent_mt.runs.experiment import PROJECT, read_experiment
from recurrent_mt.runs.systems import model_arguments
from recurrent_mt.runs.train_log import FastPathCopies
from user_dir import models  # noqa: F401 - registers the architectures

COMPARISON = PROJECT / "configs" / "experiments" / "comparison.yaml"


def flags(name, *changes):
    return model_arguments(name, (), read_experiment(COMPARISON, changes))


def parameters(name, *changes, words=6000):
    """Of a model with these flags and dictionaries of so many words, as `analysis.train_log` counts them."""
    parser = options.get_training_parser()
    arguments = options.parse_args_and_arch(
        parser, ["data", "-s", "fr", "-t", "en", "--optimizer", "adam", *flags(name, *changes)]
    )
    dictionaries = [Dictionary() for _ in range(2)]
    for dictionary in dictionaries:
        for number in range(words):
            dictionary.add_symbol(str(number))
    task = tasks.get_task("translation")(arguments, *dictionaries)
    with torch.device("meta"):  # without numbers
        model, copies = task.build_model(arguments), FastPathCopies()
    for line in str(model).splitlines():
        copies.read(line)
    return sum(parameter.numel() for parameter in model.parameters()) - copies.take()


@pytest.mark.parametrize(("tied", "share"), [("false", 0.05), ("true", 0.15)])
def test_systems_of_one_experiment_are_of_comparable_size(tied, share):
    lstm = parameters("lstm", f"tied={tied}")
    for name in ("fconv", "transformer", "gru_encoder-additive", "grconv_encoder-none"):
        assert abs(parameters(name, f"tied={tied}") / lstm - 1) < share, name


@pytest.mark.parametrize(("size", "width"), [(512, 256), (250, 128), (16, 8), (1, 8)])
def test_a_transformers_heads_divide_its_width(size, width):
    found = flags("transformer", f"decoder_size={size}")
    assert found[found.index("--encoder-embed-dim") + 1] == str(width)
    assert found[found.index("--decoder-ffn-embed-dim") + 1] == str(4 * width)
