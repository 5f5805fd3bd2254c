"""Learning rates that were searched for, and the one that was chosen by validation loss."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path

from ..text_files import FileError, write_text
from .folder import CHOICE, OUTCOME, TRAIN_LOG, seed_folder
from .outcomes import Status, read_outcome
from .train_log import read_train_log


@dataclass(frozen=True)
class RateChoice:
    """What came of a search."""

    seed: int  # of all its trainings
    chosen: str  # the rate, as it was given
    #: rate to its best validation loss, per token, base 2; None if the training diverged
    valid_losses: Mapping[str, float | None]

    def __str__(self) -> str:
        """For the notes of a table."""
        losses = [
            f"{'diverged' if loss is None else format(loss, '.3f')} at {rate}"
            for rate, loss in self.valid_losses.items()
        ]
        return f"learning rate {self.chosen}; validation loss {', '.join(losses)} (seed {self.seed})"


def choose_rate(folder: str | PathLike[str], *, seed: int, rates: Sequence[str]) -> RateChoice:
    """Chooses the rate of the lowest validation loss, and writes the choice to ``choice.json``.

    Args:
        folder: has a run ``seed-S/RATE`` of each rate, with ``train.log`` and ``outcome``.
        seed: of the trainings.
        rates: as they were given; of equal losses the first one's is chosen.

    Raises:
        FileError: if a log is missing or damaged.
        ValueError: if a training failed otherwise than by diverging, or none has a validation loss.
    """
    losses = {rate: valid_loss(Path(seed_folder(folder, seed), rate)) for rate in rates}
    known = {rate: loss for rate, loss in losses.items() if loss is not None}
    if not known:
        raise ValueError(f"no learning rate of {', '.join(rates)} gave a validation loss")
    choice = RateChoice(seed, min(known, key=lambda rate: known[rate]), losses)
    write_text(Path(folder) / CHOICE, json.dumps(asdict(choice), indent=1) + "\n")
    return choice


def valid_loss(folder: Path) -> float | None:
    """The best validation loss of one training; None if it diverged.

    Raises:
        FileError: if its log is missing or damaged.
        ValueError: if it failed otherwise.
    """
    if (outcome := read_outcome(folder / OUTCOME)) is not None and outcome.failed:
        if outcome.status == Status.DIVERGED:
            return None
        raise ValueError(f"the training with learning rate {folder.name} failed: {outcome.reason}")
    log = folder / TRAIN_LOG
    if not log.is_file():
        raise FileError(log, "there is no such file: has this learning rate been trained with?")
    return read_train_log(log).best_valid_loss


def read_choice(folder: str | PathLike[str]) -> RateChoice | None:
    """The choice that was made in a folder; None if none was."""
    file = Path(folder) / CHOICE
    return RateChoice(**json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else None
