"""``--help`` of the fairseq commands with the plug-in."""

from __future__ import annotations

import pickle
import re
from dataclasses import fields

import pytest
from fairseq import options
from fairseq.models import MODEL_DATACLASS_REGISTRY

from tests.models.building import ARCHITECTURES
from user_dir.models.config import EncoderDecoderConfig
from user_dir.tasks.published_translation import PublishedTranslationConfig

#: What counts as a source: a paper, a program whose option it is, the authors' code, or this project.
SOURCE = r"\b(19|20)\d\d[ab]?\b|fairseq's|sacrebleu|released code|this project's own"
FLAG = re.compile(r"^  (?:-\w(?: \S+)?, )?--([\w-]+)", re.MULTILINE)


def own_options(*dataclasses: type) -> dict[str, str]:
    """The flags that dataclasses define themselves, with their texts."""
    return {
        field.name.replace("_", "-"): field.metadata["help"]
        for kind in dataclasses
        for field in fields(kind)
        if field.name in kind.__annotations__
    }


def print_help(capsys, *line: str, parser=options.get_training_parser) -> list[str]:
    """The flags that a help lists."""
    with pytest.raises(SystemExit):
        options.parse_args_and_arch(parser(), [*line, "--help"])
    return FLAG.findall(capsys.readouterr().out)


def test_every_option_has_a_help_text_with_its_source():
    kinds = [MODEL_DATACLASS_REGISTRY[name] for name in ARCHITECTURES]
    listed = own_options(EncoderDecoderConfig, PublishedTranslationConfig, *kinds)
    assert len(listed) > 50
    assert not [flag for flag, text in listed.items() if not re.search(SOURCE, text)]


def test_help_with_a_model_has_the_options_of_that_model_and_of_what_else_is_chosen(capsys):
    listed = print_help(
        capsys, "data", "--arch", "grconv_encoder", "--optimizer", "adam", "--task", "published_translation"
    )
    kinds = MODEL_DATACLASS_REGISTRY["grconv_encoder"], EncoderDecoderConfig, PublishedTranslationConfig
    assert own_options(*kinds).keys() <= set(listed)
    assert "adam-betas" in listed and "encoder-bidirectional" not in listed
    assert "decoder-attention-heads" not in listed, "what is gone is not shown"
    assert [flag for flag in listed if listed.count(flag) > 1] == []


def test_help_without_a_model_is_fairseqs_and_that_of_generate_has_the_tasks_options(capsys):
    assert "arch" in print_help(capsys)
    parser = options.get_generation_parser
    assert "shrinking-beam" in print_help(capsys, "--task", "published_translation", parser=parser)
    assert "path" in print_help(capsys, parser=lambda: options.get_validation_parser(default_task=None))


def test_command_lines_without_help_are_parsed_as_usual():
    parse = options.parse_args_and_arch
    assert pickle.loads(pickle.dumps(parse)) is parse
    line = ["data", "--arch", "gru_encoder", "--gru-rank", "7", "--task", "published_translation"]
    changed: list[str] = []
    parsed = parse(options.get_training_parser(), line, modify_parser=lambda parser: changed.append(parser.prog))
    assert parsed.gru_rank == 7 and not hasattr(parsed, "grconv_height") and len(changed) == 2
    parsed, unknown = parse(options.get_training_parser(), [*line, "--stranger"], parse_known=True)
    assert parsed.arch == "gru_encoder" and unknown == ["--stranger"]
