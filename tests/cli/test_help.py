"""``--help`` of the fairseq commands with the plug-in."""

from __future__ import annotations

import pickle
import re
from dataclasses import fields

import pytest
from fairseq import options
from fairseq.models import MODEL_DATACLASS_REGISTRY
from fairseq.tasks.translation import TranslationConfig

from tests.cli import toy
from tests.models.building import ARCHITECTURES
from user_dir.models.config import EncoderDecoderConfig
from user_dir.scoring import TextScorerConfig
from user_dir.tasks.published_translation import PublishedTranslationConfig

#: What counts as a source: a paper, a program whose option it is, the authors' code, or this project.
SOURCE = r"\b(19|20)\d\d[ab]?\b|fairseq's|sacrebleu|released code|this project's own"
FLAG = re.compile(r"^  (?:-\w(?: \S+)?, )?--([\w-]+)")


def flags(*dataclasses: type) -> list[str]:
    """The flags of the fields that only the first of these dataclasses has."""
    names, *others = [
        [field.name for field in fields(dataclass) if not field.metadata.get("removed")] for dataclass in dataclasses
    ]
    return sorted(name.replace("_", "-") for name in names if name != "_name" and not any(name in o for o in others))


def explained(text: str) -> list[tuple[str, str]]:
    """The flags of a help and their texts, in order."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        flag = FLAG.match(line)
        if flag:
            # The text begins on the flag's line, after two spaces, or on the next one.
            found.append((flag.group(1), line[2:].partition("  ")[2].strip()))
        elif found and line.startswith(" " * 8):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}".strip())
    return found


def parts(text: str) -> dict[str, str]:
    """The sections of this plug-in in a help, by the names in their titles."""
    pieces = re.split(
        r"^(Every model of this plug-in|--(?:arch|task|criterion|scoring) [\w, \n]+): ?", text, flags=re.M
    )
    return {title.replace("\n", " "): body for title, body in zip(pieces[1::2], pieces[2::2])}


@pytest.fixture(scope="module")
def train_help() -> str:
    return toy.run("fairseq-train", "--user-dir", toy.PLUGIN, "--help").stdout


def test_every_option_of_every_model_is_listed_once(train_help):
    found = parts(train_help)
    shared = found["Every model of this plug-in"]
    assert sorted(flag for flag, _ in explained(shared)) == flags(EncoderDecoderConfig)
    models = {title.split()[1] for title in found if title.startswith("--arch")}
    assert models == set(ARCHITECTURES) and len(models) >= 6
    listed = {name: sorted(flag for flag, _ in explained(found[f"--arch {name}"])) for name in models}
    assert listed == {name: flags(MODEL_DATACLASS_REGISTRY[name], EncoderDecoderConfig) for name in models}
    assert listed["gru_encoder"] and listed["unet_encoder"]


def test_help_lists_the_options_of_task_criterion_and_scorers(train_help):
    found = parts(train_help)
    task = [flag for flag, _ in explained(found["--task published_translation"])]
    assert sorted(task) == flags(PublishedTranslationConfig, TranslationConfig)
    assert "summed over the minibatch" in found["--criterion summed_cross_entropy"]
    (scorers,) = [title for title in found if title.startswith("--scoring")]
    assert {"text_bleu", "text_chrf", "text_ter", "ter"} <= set(re.findall(r"\w+", scorers))
    assert sorted(flag for flag, _ in explained(found[scorers])) == flags(TextScorerConfig)


def test_every_option_has_a_help_text_with_its_source(train_help):
    listed = [option for body in parts(train_help).values() for option in explained(body)]
    assert len(listed) > 50
    assert not [flag for flag, text in listed if not re.search(SOURCE, text)]


def test_help_with_a_model_has_the_options_of_that_model_and_of_what_else_is_chosen():
    text = toy.run(
        *("fairseq-train", "data", "--user-dir", toy.PLUGIN, "--arch", "grconv_encoder", "-h", "--optimizer", "adam"),
        *("--task", "published_translation"),
    ).stdout
    listed = [flag for flag, _ in explained(text)]
    expected = flags(MODEL_DATACLASS_REGISTRY["grconv_encoder"]) + flags(PublishedTranslationConfig, TranslationConfig)
    assert set(expected) <= set(listed) and "plug-in" not in text
    assert "adam-betas" in listed and "encoder-bidirectional" not in listed
    assert [flag for flag in listed if listed.count(flag) > 1] == []


def test_help_of_generate_and_validate_has_the_tasks_options_and_no_models():
    generate = toy.run("fairseq-generate", "--user-dir", toy.PLUGIN, "--help").stdout
    assert "--shrinking-beam" in parts(generate)["--task published_translation"]
    assert "--left-pad-source" in generate and "--grconv-height" not in generate
    validate = toy.run("fairseq-validate", "--user-dir", toy.PLUGIN, "--help").stdout
    assert "--shrinking-beam" in validate and "usage: fairseq-validate" in validate


def test_command_lines_without_help_are_parsed_as_usual():
    parse = options.parse_args_and_arch
    assert pickle.loads(pickle.dumps(parse)) is parse
    line = ["data", "--arch", "gru_encoder", "--gru-rank", "7", "--task", "published_translation"]
    changed: list[str] = []
    parsed = parse(options.get_training_parser(), line, modify_parser=lambda parser: changed.append(parser.prog))
    assert parsed.gru_rank == 7 and not hasattr(parsed, "grconv_height") and len(changed) == 2
    parsed, unknown = parse(options.get_training_parser(), [*line, "--stranger"], parse_known=True)
    assert parsed.arch == "gru_encoder" and unknown == ["--stranger"]
    suppressed = parse(options.get_training_parser(), line, suppress_defaults=True)
    assert suppressed.gru_rank == 7 and not hasattr(suppressed, "max_tokens")
