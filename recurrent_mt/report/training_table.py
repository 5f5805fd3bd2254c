"""How the systems were trained, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluation.table import format_number
from ..evaluation.training_facts import SPEED_NOTE, TrainingFacts
from .table import Cell, Table

HEADER = (
    "System",
    "parameters",
    "updates",
    "training time",
    "best validation loss",
    "words/s, training",
    "sentences/s, translation",
)


def training_table(facts: Sequence[TrainingFacts]) -> Table:
    """One row a system."""
    rows = [
        [
            Cell(f"{one.parameters:,}"),
            Cell(f"{one.updates:,.0f}"),
            Cell(duration(one.training_seconds)),
            Cell(format_number(one.best_valid_loss, ".2f")),
            Cell(format_number(one.words_per_second, ",.0f")),
            Cell(format_number(one.sentences_per_second, ",.1f")),
        ]
        for one in facts
    ]
    notes = [SPEED_NOTE, "Validation loss: bits a token. Speeds compare on one machine only."]
    if seeds := [f"{one.system}: {one.seeds}" for one in facts if one.seeds > 1]:
        notes.append(f"Means over seeds ({', '.join(seeds)}).")
    return Table("Training and speed", HEADER, [one.system for one in facts], rows, notes)


def duration(seconds: float) -> str:
    """Hours and minutes, or minutes and seconds."""
    hours, rest = divmod(round(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
