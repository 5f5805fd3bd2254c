"""Systems beside each other: one table as text, Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path

from ..metrics import Score, score
from .generate_log import read_generate_log
from .log_lines import LogError, read_lines
from .table import format_number, markdown_table, text_table
from .train_log import read_train_log

WORDS_NOTE = (
    "Words/s: target tokens a second, ends of sentences included, over the log intervals in which nothing\n"
    "but training happened. Sentences/s: fairseq-generate's own figure, without loading."
)


@dataclass(frozen=True)
class System:
    """One trained system and how it did on the test set.

    Attributes:
        name: as printed.
        bleu: on detokenised text.
        tokenized_bleu: on the words as the model produced them, None where the model has no words.
        parameters: of the model.
        words_per_second: in training, see `analysis.train_log`; None if it could not be measured.
        sentences_per_second: in translation; None if the log has no timing.
        updates: of training.
        best_valid_loss: per token, base 2.
        training_seconds: wall time of training, validation included.
    """

    name: str
    bleu: Score
    tokenized_bleu: Score | None
    parameters: int
    words_per_second: float | None
    sentences_per_second: float | None
    updates: int
    best_valid_loss: float | None
    training_seconds: float


@dataclass(frozen=True)
class References:
    """What translations are compared with.

    Attributes:
        detokenized: raw reference text.
        tokenized: the same as the models' words, None where they have none.
        language: target language, which chooses BLEU's tokenisation.
        lowercase: ignore case, as where the training text was lower-cased.
    """

    detokenized: Sequence[str]
    tokenized: Sequence[str] | None
    language: str
    lowercase: bool


def read_system(name: str, folder: str | PathLike[str], references: References) -> System:
    """Reads ``train.log``, ``test.log`` and ``test.detokenized`` of a run.

    Raises:
        LogError: if a file is missing or damaged.
        ValueError: if the translation has not as many sentences as the reference.
    """
    folder = Path(folder)
    for file in ("train.log", "test.log", "test.detokenized"):
        if not (folder / file).is_file():
            raise LogError(folder / file, "there is no such file")
    training = read_train_log(folder / "train.log")
    translation = read_generate_log(folder / "test.log")
    detokenized = [text for _, text in read_lines(folder / "test.detokenized")]
    tokenized_bleu = None
    if references.tokenized is not None:
        tokens = [hypothesis.tokens for hypothesis in translation.best()]
        tokenized_bleu = score("bleu", tokens, references.tokenized, tokenize="none", lowercase=references.lowercase)
    return System(
        name=name,
        bleu=score(
            "bleu",
            detokenized,
            references.detokenized,
            target_language=references.language,
            lowercase=references.lowercase,
        ),
        tokenized_bleu=tokenized_bleu,
        parameters=training.parameters,
        words_per_second=training.words_per_second,
        sentences_per_second=translation.speed.sentences_per_second if translation.speed else None,
        updates=training.updates,
        best_valid_loss=training.best_valid_loss,
        training_seconds=training.wall_seconds,
    )


def table_rows(systems: Sequence[System]) -> list[list[str]]:
    """Header and one row a system; the column of tokenised BLEU only where a system has it."""
    tokenized = any(system.tokenized_bleu for system in systems)
    rows = [
        [
            "System",
            "BLEU",
            *(["BLEU, tokenised"] if tokenized else []),
            "Parameters",
            "Words/s, training",
            "Sentences/s",
        ]
    ]
    for system in systems:
        rows.append(
            [
                system.name,
                f"{system.bleu.value:.2f}",
                *([f"{system.tokenized_bleu.value:.2f}" if system.tokenized_bleu else "–"] if tokenized else []),
                f"{system.parameters:,}",
                format_number(system.words_per_second, ",.0f"),
                format_number(system.sentences_per_second, ",.1f"),
            ]
        )
    return rows


def signatures(systems: Sequence[System]) -> list[str]:
    """One line for each signature in the table."""
    lines = dict.fromkeys(f"BLEU: {system.bleu.signature}" for system in systems)
    lines |= dict.fromkeys(
        f"BLEU, tokenised: {system.tokenized_bleu.signature}" for system in systems if system.tokenized_bleu
    )
    return list(lines)


def as_text(systems: Sequence[System]) -> str:
    """The table for a terminal."""
    return "\n".join([*text_table(table_rows(systems)), "", *signatures(systems), WORDS_NOTE, ""])


def as_markdown(systems: Sequence[System]) -> str:
    """The table for a README."""
    lines = markdown_table(table_rows(systems))
    return "\n".join([*lines, "", *(f"`{line}`" for line in signatures(systems)), "", WORDS_NOTE, ""])


def as_json(systems: Sequence[System]) -> str:
    """Everything, unrounded."""
    return json.dumps([asdict(system) for system in systems], indent=2, ensure_ascii=False) + "\n"
