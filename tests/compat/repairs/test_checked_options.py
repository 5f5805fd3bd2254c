"""Options that contradict each other or that there are not are refused in a sentence, wherever they come from."""

from __future__ import annotations

import pytest
from fairseq import options
from fairseq_cli import train

from tests.training import configuration

from .commands import train as fairseq_train

OUTPUT = "would not train the output layer, which is the same matrix with"


@pytest.mark.parametrize(
    ("parser", "flags", "message"),
    [
        (options.get_generation_parser, "--lm-weight 0.5", "--lm-weight 0.5 needs a language model: --lm-path"),
        (
            options.get_training_parser,
            "--arch gru_encoder --decoder-freeze-embed --share-decoder-input-output-embed",
            f"--decoder-freeze-embed {OUTPUT} --share-decoder-input-output-embed: leave one out",
        ),
        (
            options.get_training_parser,
            "--arch gru_encoder --encoder-freeze-embed --share-all-embeddings",
            f"--encoder-freeze-embed {OUTPUT} --share-all-embeddings: leave one out",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(parser, flags, message, capsys: pytest.CaptureFixture):
    with pytest.raises(SystemExit) as end:
        options.parse_args_and_arch(parser(), ["data", *flags.split()])
    assert end.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].partition("error: ")[2] == message


def test_a_configuration_without_a_command_line_is_refused():
    config = configuration("cross_entropy", ()).copy()
    config.model.decoder_freeze_embed = config.model.share_decoder_input_output_embed = True
    with pytest.raises(ValueError, match=f"^--decoder-freeze-embed {OUTPUT}"):
        train.main(config)


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


@pytest.mark.parametrize("flags", ["", "--bf16", "--tpu", "--bf16 --tpu"])
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
