"""The distribution that a box is installed as: its metadata, and cards that say what the models are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ..data.reports import table
from ..evaluation.tables import escape_markdown
from ..metrics import Score
from ..text_files import FileError, write_text
from ..text_form import TextForm
from .box import GROUP, NAME, Manifest

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
#: What pip takes for the name of a distribution, and a box's name is a part of one.
DISTRIBUTION = r"^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?$"
#: Of a description: words in one line.
Sentence = Annotated[str, AfterValidator(lambda text: " ".join(text.split())), Field(min_length=1)]


class Card(NamedTuple):
    """What is known of a packed model."""

    system: str  # its name
    bits: int  # of a parameter; eight, as ONNX
    architecture: str  # fairseq's name of it
    parameters: int  # how many, shared ones counted once
    updates: int  # of its training
    epochs: int  # begun
    size: int  # of its files, in bytes
    scores: Mapping[str, Score]  # BLEU by test set
    translations: Sequence[str]  # what it makes of the description's examples and of its mistakes, in their order


class SystemDescription(BaseModel):
    """What a person says of a model, and the command that trained it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    summary: str  # what the model is, in a sentence for those who do not know the field: the demo shows it as it is
    training: str  # the command


class BoxDescription(BaseModel):
    """What a person says of a box, in Markdown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=DISTRIBUTION)]  # which others call it by
    # It stands in quotation marks in the metadata of the distribution.
    title: Annotated[str, Field(pattern=r'^[^"\\\n]*$')]  # one line
    data: str  # what the models were trained on, and its terms
    commit: str  # of this project, whose code trained them
    limits: str  # what the models cannot do
    #: sentences to try, with translations, which the default model finds
    examples: Annotated[dict[Sentence, Sentence], Field(min_length=1)]
    mistakes: dict[Sentence, Sentence] = {}  # sentences that it gets wrong, with right translations
    #: the first is the default
    systems: Annotated[dict[Annotated[str, Field(pattern=f"^{NAME.pattern}$")], SystemDescription], Field(min_length=1)]
    #: the one that is stored as ONNX, and not otherwise; without it, the default is stored both ways
    onnx: str | None = None

    @property
    def package(self) -> str:
        """The name of the folder that is installed."""
        return f"recurrent_mt_{self.name.replace('-', '_')}"

    @property
    def shown(self) -> dict[str, str]:
        """The sentences that the cards show, with right translations."""
        return self.examples | self.mistakes

    def manifest(self, default: str, systems: Iterable[str]) -> Manifest:
        """What the box says of itself and of its systems."""
        return Manifest(default, self.title, {name: self.systems[name].summary.strip() for name in systems})


def read_description(file: Path) -> BoxDescription:
    """Reads the file that describes a box.

    Raises:
        FileError: if it lacks a value, or has one of another kind.
        OSError: if it cannot be read.
    """
    try:
        return BoxDescription.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValueError) as error:
        raise FileError(file, str(error)) from None


def write_distribution(description: BoxDescription, cards: Sequence[Card], form: TextForm, folder: Path) -> None:
    """Writes all of the distribution but its models, of which there are these cards, into its folder."""
    package = folder / description.package
    # Where a run folder has its test set, whose sentences the demo offers.
    for language, side in ((form.source, description.examples), (form.target, description.examples.values())):
        write_text(package / "text" / "raw" / f"test.{language}", "".join(f"{one}\n" for one in side))
    values = description.model_dump() | {
        "distribution": f"recurrent-mt-{description.name}",
        "package": description.package,
    }
    write_text(folder / "pyproject.toml", METADATA.format(**values, version=VERSION, group=GROUP))
    write_text(package / "__init__.py", f'"""{description.title}. Data alone: see recurrent_mt.translation."""\n')
    write_text(folder / "README.md", render_box(description, cards))
    # Of a model that is stored in two ways, the first.
    for name, card in {card.system: card for card in reversed(cards)}.items():
        write_text(package / "systems" / name / "card.md", render_card(description, card))


def render_box(description: BoxDescription, cards: Sequence[Card]) -> str:
    """The page of the distribution: a table of its models, data, and limits."""
    default = next(card for card in cards if card.bits == 16)
    tests, systems = list(default.scores), dict.fromkeys(card.system for card in cards)
    rows = []
    for card in cards:
        link = f"[{card.system}]({description.package}/systems/{card.system}/card.md)"
        kind = ", as ONNX in eight bits" if card.bits == 8 else ""
        scores = [f"{card.scores[test].value:.1f}" for test in tests]
        rows.append([f"{link}{kind}", f"{card.parameters:,}", f"{card.size / 1e6:.1f}", *scores])
    titles = ["model", "parameters", "MB", *(f"BLEU, {test}" for test in tests)]
    return "\n".join(
        [
            f"# {description.title}\n",
            "Written by `recurrent-mt pack`. After `pip install` of this folder, with the project of which this is a",
            "part, `recurrent-mt translate` and `recurrent-mt demo` use these models.\n",
            *(f"- **{name}**: {description.systems[name].summary.strip()}" for name in systems),
            "",
            f"{table(titles, rows)}\n",
            *signature(default),
            *sentences(description, default),
            f"## Data\n\n{description.data.strip()}\n",
            f"## Limits\n\n{description.limits.strip()}",
            "",
        ]
    )


def render_card(description: BoxDescription, card: Card) -> str:
    """The card of one model."""
    said = description.systems[card.system]
    rows = [
        ["architecture", f"`{card.architecture}`"],
        ["parameters", f"{card.parameters:,}, stored in {card.bits} bits: {card.size / 1e6:.1f} MB"],
        ["training", f"{card.updates:,} updates, in epoch {card.epochs}"],
        ["code", f"commit {description.commit}"],
        *([f"BLEU, {test}", f"{found.value:.1f}"] for test, found in card.scores.items()),
    ]
    command = "\n".join(f"    {line}" for line in said.training.strip().splitlines())
    return "\n".join(
        [
            f"# {card.system}: {description.title}\n",
            f"{said.summary.strip()}\n",
            f"{table(['', ''], rows)}\n",
            *signature(card),
            *sentences(description, card),
            f"## Training\n\n{command}\n",
            f"## Data\n\n{description.data.strip()}\n",
            f"## Limits\n\n{description.limits.strip()}",
            "",
        ]
    )


def sentences(description: BoxDescription, card: Card) -> list[str]:
    """What the model makes of the description's sentences, in two tables: as it stands there, and otherwise."""
    written = [(*pair, found) for pair, found in zip(description.shown.items(), card.translations, strict=True)]
    right = [[source, found] for source, meaning, found in written if found == meaning]
    wrong = [[source, meaning, found] for source, meaning, found in written if found != meaning]
    return [
        f"## {title}\n\n{table(head, (map(escape_markdown, row) for row in rows))}\n"
        for title, head, rows in (
            ("Sentences that it gets right", ["sentence", "translation"], right),
            ("Sentences that it gets wrong", ["sentence", "meaning", "translation"], wrong),
        )
        if rows
    ]


def signature(card: Card) -> list[str]:
    """What decides the scores, in one paragraph; nothing without scores."""
    found = sorted({score.signature for score in card.scores.values()})
    return [f"BLEU is {' and '.join(f'`{one}`' for one in found)}, with beam 5.\n"] if found else []
