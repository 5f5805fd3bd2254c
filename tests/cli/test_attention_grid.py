"""Attention in three places, on and off: each of the eight models trains and translates through fairseq's own commands.

They run in this process: eight times two processes would spend their time on imports. By default the model with all
three runs; the other seven are slow.
"""

import itertools
import json
import logging

import pytest
import torch
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_cli import generate, train

from tests.cli import toy

PLACES = {
    "encoder": ("--encoder-self-attention-heads", "4"),
    "decoder": ("--decoder-self-attention-heads", "4"),
    "between": ("--decoder-attention", "additive"),
}
UPDATES = 12


def grid():
    """The eight cells."""
    for switches in itertools.product([False, True], repeat=len(PLACES)):
        places = tuple(itertools.compress(PLACES, switches))
        marks = () if all(switches) else pytest.mark.slow
        yield pytest.param(places, id="-".join(places) or "nowhere", marks=marks)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The synthetic corpus, small, binarized."""
    folder = tmp_path_factory.mktemp("attention-grid")
    sizes = ("--train", 300, "--valid", 10, "--test", 10, "--max-words", 12)
    toy.run("recurrent-mt", "synthetic-corpus", "--out", folder / "text", *sizes)
    toy.preprocess(folder / "text", folder / "bin", "--nwordssrc", 200, "--nwordstgt", 200)
    return folder / "bin"


def configuration(parser, *arguments):
    """What a command does with its arguments."""
    return convert_namespace_to_omegaconf(
        options.parse_args_and_arch(parser, [str(argument) for argument in arguments])
    )


def train_in_process(data, save, *arguments):
    train.main(
        configuration(
            options.get_training_parser(),
            *(data, "--user-dir", toy.PLUGIN, "--save-dir", save, "--arch", "gru_encoder", "--max-update", UPDATES),
            *(*toy.SMALL, *toy.TRAINING, "--num-workers", 0, *arguments),
        )
    )


def generate_in_process(data, path, folder):
    """The lines that fairseq-generate writes."""
    generate.main(
        configuration(
            options.get_generation_parser(),
            *(data, "--user-dir", toy.PLUGIN, "--path", path, "--cpu", "--beam", 3, "--max-len-b", 15),
            *("--results-path", folder, "--num-workers", 0, "--no-progress-bar"),
        )
    )
    return (folder / "generate-test.txt").read_text()


@pytest.mark.parametrize("places", grid())
def test_a_model_with_attention_in_these_places_trains_and_translates(places, data, tmp_path, caplog):
    arguments = [word for place in places for word in PLACES[place]]
    if "between" not in places:
        arguments += ["--decoder-attention", "none"]
    with caplog.at_level(logging.INFO):
        train_in_process(data, tmp_path, *arguments)
    records = [json.loads(record.getMessage()) for record in caplog.records if record.name == "train_inner"]
    losses = [float(record["loss"]) for record in records]
    assert len(losses) == UPDATES and losses[-1] < 0.9 * losses[0]

    parameters = torch.load(tmp_path / "checkpoint_last.pt")["model"]
    attentive = {name.split(".self_attention")[0].split(".")[0] for name in parameters if ".self_attention." in name}
    assert attentive == {"encoder", "decoder"}.intersection(places)
    written = generate_in_process(data, tmp_path / "checkpoint_last.pt", tmp_path)
    assert toy.lines(written, "H").keys() == toy.lines(written, "T").keys() == set(range(10))
