"""The distribution that a box is installed as: its metadata, and cards that say what the models are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import yaml

from ..data.reports import table
from ..metrics import Score
from ..text_files import FileError, write_text
from ..text_form import TextForm
from .box import GROUP, NAME

#: What a file that describes a box has, and what is said of each of its systems: all text.
FIELDS = ("name", "title", "data", "commit", "limits")
SYSTEM_FIELDS = ("summary", "training")

METADATA = """\
# Written by recurrent-mt pack.

[build-system]
requires = ["setuptools>=64"]
build-backend = "setuptools.build_meta"

[project]
name = "{distribution}"
version = "{version}"
description = "{title}"
readme = "README.md"

[project.entry-points."{group}"]
{name} = "{package}"

[tool.setuptools]
packages = ["{package}"]
package-dir = {{"" = "."}}

[tool.setuptools.package-data]
{package} = ["**/*"]
"""
VERSION = "1.0"
#: What the name of a box looks like, whose distribution has it.
DISTRIBUTION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?")


class Facts(Protocol):
    """What a checkpoint says of its model, see ``user_dir/checkpoints/halving.py``."""

    architecture: str
    parameters: int
    updates: int
    epochs: int


class Card(NamedTuple):
    """What is measured of a packed model: facts, the size of its file in bytes, and BLEU by test set."""

    facts: Facts
    size: int
    scores: Mapping[str, Score]


class BoxDescription(NamedTuple):
    """What a person says of a box, in Markdown.

    Attributes:
        name: which others call it by.
        title: one line.
        data: what the models were trained on, and its terms.
        commit: of this project, whose code trained them.
        limits: what the models cannot do.
        examples: sentences to try, with translations.
        systems: for each a summary and the command that trained it; the first is the default.
    """

    name: str
    title: str
    data: str
    commit: str
    limits: str
    examples: Mapping[str, str]
    systems: Mapping[str, Mapping[str, str]]

    @property
    def package(self) -> str:
        """The name of the folder that is installed."""
        return f"recurrent_mt_{self.name.replace('-', '_').replace('+', '_')}"


def read_description(file: Path) -> BoxDescription:
    """Reads the file that describes a box.

    Raises:
        FileError: if it is missing, or lacks a value, or has one of another kind.
    """
    try:
        found = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(file, "there is no such file") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FileError(file, f"this is no YAML: {error}") from None
    if not isinstance(found, dict):
        raise FileError(file, f"expected {', '.join(FIELDS)}, examples, and systems")
    check_texts(file, found, (*FIELDS, "examples", "systems"), FIELDS, "")
    for part, what in (("examples", "sentences with their translations"), ("systems", "at least one, by name")):
        if not isinstance(found[part], dict) or not found[part]:
            raise FileError(file, f"{part} must be {what}")
    if others := [sentence for sentence in found["examples"] if not isinstance(sentence, str)]:
        raise FileError(file, f"examples: {others[0]!r} must be text: put it in quotation marks")
    check_texts(file, found["examples"], tuple(found["examples"]), tuple(found["examples"]), "examples.")
    for name, said in found["systems"].items():
        if not isinstance(said, dict):
            raise FileError(file, f"systems.{name} must have {' and '.join(SYSTEM_FIELDS)}")
        check_texts(file, said, SYSTEM_FIELDS, SYSTEM_FIELDS, f"systems.{name}.")
    check_names(file, (found["name"], *found["systems"]), found["title"])
    if not DISTRIBUTION.fullmatch(found["name"]):
        raise FileError(file, f"pip installs nothing that is called {found['name']}: letters and digits, and - within")
    return BoxDescription(**found)


def check_names(file: Path, names: tuple[str, ...], title: str) -> None:
    """Rejects what would not do as the name of a folder, or in the metadata of a distribution.

    Raises:
        FileError: naming the first such value.
    """
    for name in names:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise FileError(file, f"{name!r} is no name: letters, digits, -, + and _ make one")
    if any(character in title for character in '"\\\n'):
        raise FileError(file, "title must be one line without quotation marks and backslashes")


def check_texts(
    file: Path, found: Mapping[str, Any], known: tuple[str, ...], texts: tuple[str, ...], where: str
) -> None:
    """Rejects what a description does not have, and what it lacks.

    Raises:
        FileError: naming the first such key.
    """
    for name in found:
        if name not in known:
            raise FileError(file, f"{where}{name} is unknown: there is {', '.join(known)}")
    for name in known:
        if name not in found:
            raise FileError(file, f"{where}{name} is missing")
    for name in texts:
        if not isinstance(found[name], str):
            raise FileError(file, f"{where}{name} must be text, not {found[name]!r}")


def write_distribution(
    description: BoxDescription, cards: Mapping[str, Card], form: TextForm, folder: Path, *, small: Mapping[str, Score]
) -> None:
    """Writes all of the distribution but its models.

    Args:
        description: of the box.
        cards: of its models, the default first.
        form: of the box's text.
        folder: of the distribution.
        small: scores of the default in eight bits; none if it was not exported.
    """
    package = folder / description.package
    # Where a run folder has its test set, whose sentences the demo offers.
    for language, side in ((form.source, description.examples), (form.target, description.examples.values())):
        write_text(package / "text" / "raw" / f"test.{language}", "".join(f"{' '.join(one.split())}\n" for one in side))
    values = description._asdict() | {
        "distribution": f"recurrent-mt-{description.name}",
        "package": description.package,
    }
    write_text(folder / "pyproject.toml", METADATA.format(**values, version=VERSION, group=GROUP))
    write_text(package / "__init__.py", f'"""{description.title}. Data alone: see recurrent_mt.translation."""\n')
    write_text(folder / "README.md", render_box(description, cards, small))
    for name, card in cards.items():
        write_text(package / "systems" / name / "card.md", render_card(description, name, card))


def render_box(description: BoxDescription, cards: Mapping[str, Card], small: Mapping[str, Score]) -> str:
    """The page of the distribution: a table of its models, data, and limits."""
    tests = list(next(iter(cards.values())).scores)
    rows = [
        [f"[{name}]({description.package}/systems/{name}/card.md)", *describe(card), *values(card.scores, tests)]
        for name, card in cards.items()
    ]
    default = next(iter(cards))
    if small:
        rows.append([f"{default}, as ONNX in eight bits", "", "", *values(small, tests)])
    titles = ["model", "parameters", "MB", *(f"BLEU, {test}" for test in tests)]
    return "\n".join(
        [
            f"# {description.title}\n",
            "Written by `recurrent-mt pack`. After `pip install` of this folder, with the project of which this is a",
            "part, `recurrent-mt translate` and `recurrent-mt demo` use these models.\n",
            *(f"- **{name}**: {description.systems[name]['summary'].strip()}" for name in cards),
            "",
            f"{table(titles, rows)}\n",
            *signature(cards[default]),
            f"## Data\n\n{description.data.strip()}\n",
            f"## Limits\n\n{description.limits.strip()}",
            "",
        ]
    )


def render_card(description: BoxDescription, name: str, card: Card) -> str:
    """The card of one model."""
    facts, said = card.facts, description.systems[name]
    parameters, size = describe(card)
    rows = [
        ["architecture", f"`{facts.architecture}`"],
        ["parameters", f"{parameters}, stored in 16 bits: {size} MB"],
        ["training", f"{facts.updates:,} updates, in epoch {facts.epochs}"],
        ["code", f"commit {description.commit}"],
        *([f"BLEU, {test}", f"{found.value:.1f}"] for test, found in card.scores.items()),
    ]
    command = "\n".join(f"    {line}" for line in said["training"].strip().splitlines())
    return "\n".join(
        [
            f"# {name}: {description.title}\n",
            f"{said['summary'].strip()}\n",
            f"{table(['', ''], rows)}\n",
            *signature(card),
            f"## Training\n\n{command}\n",
            f"## Data\n\n{description.data.strip()}\n",
            f"## Limits\n\n{description.limits.strip()}",
            "",
        ]
    )


def describe(card: Card) -> list[str]:
    """The number of parameters, and the megabytes of the file."""
    return [f"{card.facts.parameters:,}", f"{card.size / 1e6:.1f}"]


def values(scores: Mapping[str, Score], tests: list[str]) -> list[str]:
    """The scores of the test sets as they are printed."""
    return [f"{scores[test].value:.1f}" for test in tests]


def signature(card: Card) -> list[str]:
    """What decides the scores, in one paragraph; nothing without scores."""
    found = sorted({score.signature for score in card.scores.values()})
    return [f"BLEU is {' and '.join(f'`{one}`' for one in found)}, with beam 5.\n"] if found else []
