"""Options that mean nothing are refused in a sentence, wherever they come from."""

from __future__ import annotations

from argparse import Namespace

import pytest
from fairseq import options
from fairseq_cli import train

from tests.models.building import build, build_adaptive, task
from tests.training import configuration

from .commands import train as fairseq_train

GENERATION = [options.get_generation_parser, options.get_interactive_generation_parser]
SEARCHES = {
    "--lenpen nan": "--lenpen must be a number, not nan",
    "--lenpen inf": "--lenpen must be a finite number, not inf",
    "--unkpen nan": "--unkpen must be a number, not nan",
    "--sampling-topp 1.5": "--sampling-topp must be above 0 and at most 1, or negative for none, not 1.5",
    "--nbest 0": "--nbest must be at least 1, not 0",
    "--beam 0": "--beam must be at least 1, not 0",
    "--beam 2 --nbest 5": "--nbest 5 needs a search with as many hypotheses: --beam 5, not --beam 2",
    "--lm-weight 0.5": "--lm-weight 0.5 needs a language model: --lm-path",
}
OUTPUT = "would not train the output layer, which is the same matrix with"
TRAININGS = {
    "--batch-size 0": "--batch-size must be at least 1, not 0",
    "--update-freq 2,0": "--update-freq must be at least 1, not 2, 0",
    "--validate-interval 0": "--validate-interval must be at least 1, not 0",
    "--lr -1": "--lr must be at least 0, not -1.0",
    "--criterion chunked_cross_entropy --label-smoothing 2": (
        "--label-smoothing must be at least 0 and below 1, not 2.0"
    ),
    "--dropout nan": "--dropout must be a number, not nan",
    "--decoder-freeze-embed --share-decoder-input-output-embed": (
        f"--decoder-freeze-embed {OUTPUT} --share-decoder-input-output-embed: leave one out"
    ),
    "--encoder-freeze-embed --share-all-embeddings": (
        f"--encoder-freeze-embed {OUTPUT} --share-all-embeddings: leave one out"
    ),
}


def refusal(parser, line, capsys):
    with pytest.raises(SystemExit) as end:
        options.parse_args_and_arch(parser(), line)
    assert end.value.code == 2
    return capsys.readouterr().err.splitlines()[-1].partition("error: ")[2]


@pytest.mark.parametrize(("flags", "message"), SEARCHES.items(), ids=list(SEARCHES))
def test_a_search_is_refused(flags, message, capsys: pytest.CaptureFixture):
    for parser in GENERATION:
        assert refusal(parser, ["data", "--path", "model.pt", *flags.split()], capsys) == message
    words = flags.replace("--", "").replace("-", "_").split()
    arguments = Namespace(**{name: number(value) for name, value in zip(words[::2], words[1::2])})
    with pytest.raises(ValueError) as error:
        task().build_generator([build("gru_encoder")], arguments)
    assert str(error.value) == message


def number(text):
    value = float(text)
    return int(value) if value.is_integer() else value


@pytest.mark.parametrize(("flags", "message"), TRAININGS.items(), ids=list(TRAININGS))
def test_a_training_is_refused(flags, message, capsys: pytest.CaptureFixture):
    line = ["data", "--arch", "gru_encoder", "--max-tokens", "100", *flags.split()]
    assert refusal(options.get_training_parser, line, capsys) == message


@pytest.mark.parametrize(
    ("group", "name", "value"), [("optimization", "update_freq", [0]), ("dataset", "max_tokens_valid", 0)]
)
def test_a_configuration_without_a_command_line_is_refused(group, name, value):
    config = configuration("cross_entropy", ()).copy()
    config[group][name] = value
    with pytest.raises(ValueError, match=rf"^--{name.replace('_', '-')} must be at least 1, not 0$"):
        train.main(config)


def test_an_adaptive_softmax_is_refused_another_temperature():
    models = [build("gru_encoder"), build_adaptive()]
    task().build_generator(models[:1], Namespace(temperature=2.0))
    task().build_generator(models, Namespace(temperature=1.0))
    with pytest.raises(ValueError, match=r"^--temperature 2\.0 does not work with an adaptive softmax"):
        task().build_generator(models, Namespace(temperature=2.0))


@pytest.mark.parametrize(
    "words",
    [
        *([], ["--nbest", "5"], ["--beam", "1"], ["--beam", "3", "--nbest", "3"], ["--unkpen", "inf"]),
        *(["--sampling", "--sampling-topp", "1"], ["--lm-weight", "0.5", "--lm-path", "lm.pt"], ["--batch-size", "1"]),
    ],
    ids=str,
)
def test_what_means_something_is_parsed(words):
    line = ["data", "--path", "model.pt", *words]
    for parsed in (
        options.parse_args_and_arch(options.get_generation_parser(), line),
        options.parse_args_and_arch(options.get_generation_parser(), line, parse_known=True)[0],
    ):
        assert parsed.nbest <= parsed.beam
    assert options.parse_args_and_arch(options.get_generation_parser(), line, suppress_defaults=True).path == "model.pt"


@pytest.mark.parametrize(
    "flags", ["--encoder-freeze-embed --share-decoder-input-output-embed", "--decoder-freeze-embed"]
)
def test_embeddings_that_the_output_does_not_share_are_frozen(flags):
    line = ["data", "--arch", "gru_encoder", *flags.split()]
    assert options.parse_args_and_arch(options.get_training_parser(), line).arch == "gru_encoder"


def test_a_misspelled_option_of_validations_is_refused(data, tmp_path):
    options = ("--max-update", 1, "--eval-bleu", "--eval-bleu-args", '{"beam": 2, "lenpn": 0}')
    with pytest.raises(ValueError, match=r"^--eval-bleu-args: there is no option 'lenpn', but 'lenpen'$"):
        fairseq_train(data, tmp_path, *options)


@pytest.mark.parametrize("flags", ["", "--bf16", "--memory-efficient-bf16", "--tpu", "--bf16 --tpu"])
def test_only_tpu_asks_for_a_tpu(flags: str, monkeypatch: pytest.MonkeyPatch):
    line = ["data", "--arch", "lstm", *flags.split()]
    monkeypatch.setattr("sys.argv", ["fairseq-train", *line])
    for given in (line, None):
        parsed = options.parse_args_and_arch(options.get_training_parser(), given)
        assert (parsed.bf16, parsed.tpu) == ("bf16" in flags, "tpu" in flags)


def test_the_parser_of_validation_has_a_task():
    assert options.parse_args_and_arch(options.get_validation_parser(), ["data"]).task == "translation"
    other = options.get_validation_parser("language_modeling")
    assert options.parse_args_and_arch(other, ["data"]).task == "language_modeling"
