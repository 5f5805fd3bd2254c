"""More hypotheses than a search has are refused, with both numbers."""

from __future__ import annotations

import pytest
from fairseq import options


@pytest.mark.parametrize("parser", [options.get_generation_parser, options.get_interactive_generation_parser])
def test_more_hypotheses_than_the_beam_are_refused(parser, capsys: pytest.CaptureFixture):
    with pytest.raises(SystemExit) as end:
        options.parse_args_and_arch(parser(), ["data", "--path", "model.pt", "--beam", "2", "--nbest", "5"])
    assert end.value.code == 2
    message = "error: --nbest 5 needs a search with as many hypotheses: --beam 5, not --beam 2"
    assert capsys.readouterr().err.splitlines()[-1].endswith(message)


@pytest.mark.parametrize("words", [[], ["--nbest", "5"], ["--beam", "1"], ["--beam", "3", "--nbest", "3"]], ids=str)
def test_as_many_as_the_beam_are_parsed(words):
    line = ["data", "--path", "model.pt", *words]
    for parsed in (
        options.parse_args_and_arch(options.get_generation_parser(), line),
        options.parse_args_and_arch(options.get_generation_parser(), line, parse_known=True)[0],
    ):
        assert parsed.nbest <= parsed.beam
    assert options.parse_args_and_arch(options.get_generation_parser(), line, suppress_defaults=True).path == "model.pt"


def test_a_command_that_does_not_search_is_not_asked():
    assert options.parse_args_and_arch(options.get_training_parser(), ["data", "--arch", "lstm"]).arch == "lstm"
