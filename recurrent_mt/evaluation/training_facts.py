"""What the logs of run folders say of how their systems were trained and how fast they translate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ..text_files import FileError
from .generate_log import read_generate_log
from .run_folder import RunFolder, seed_of
from .train_log import TrainLog, read_train_log

SPEED_NOTE = (
    "Words/s: target tokens a second in training, ends of sentences included, over the log intervals in which nothing "
    "but training happened. Sentences/s: in translation, fairseq-generate's own figure, without loading."
)


@dataclass(frozen=True)
class TrainingFacts:
    """One system; numbers that differ between seeds are means.

    Attributes:
        system: its name; the run's stands in front where two runs have a system of that name.
        seeds: how many trainings the numbers come from.
        parameters: of the model.
        updates: of training.
        best_valid_loss: per token, base 2; None without validation.
        training_seconds: wall time of training, validation included.
        words_per_second: in training, see `train_log`; None if it could not be measured.
        sentences_per_second: in translation; None if a log of it is missing or has no timing.
        peak_memory: bytes of the training process at its largest, of the seed that took most; None where a training has
            no file ``peak-memory`` (`scripts/peak_memory.py`) beside its log.
        gpu_memory: the same of a GPU, see `train_log`; None where a log has none.
    """

    system: str
    seeds: int
    parameters: int
    updates: float
    best_valid_loss: float | None
    training_seconds: float
    words_per_second: float | None
    sentences_per_second: float | None
    peak_memory: float | None = None
    gpu_memory: float | None = None


def training_facts(paths: Sequence[str | PathLike[str]]) -> list[TrainingFacts]:
    """Facts of every system in the run folders that has been trained and has not failed, in the order of their names.

    Raises:
        FileError: if a folder is not that of a run, or a log is damaged.
        ValueError: if the seeds of one system are models of different size.
    """
    found = [(run, folder) for run in map(RunFolder, paths) for folder in sorted((run.path / "systems").glob("*"))]
    names = Counter(folder.name for _, folder in found)
    facts = []
    for run, folder in found:
        found_logs = folder.glob("seed-*/train.log")
        logs = sorted((log for log in found_logs if not log.with_name("failure").exists()), key=seed_of)
        if logs:
            name = f"{run.path.name}/{folder.name}" if names[folder.name] > 1 else folder.name
            facts.append(read_facts(name, logs))
    return facts


def read_facts(name: str, logs: Sequence[Path]) -> TrainingFacts:
    """One system from the ``train.log`` of each seed and the ``test.log`` beside it.

    Raises:
        FileError: if a log is damaged.
        ValueError: if the seeds are models of different size.
    """
    trainings = [read_train_log(log) for log in logs]
    check_sizes(name, trainings)
    return TrainingFacts(
        system=name,
        seeds=len(logs),
        parameters=trainings[0].parameters,
        updates=sum(training.updates for training in trainings) / len(trainings),
        best_valid_loss=mean([training.best_valid_loss for training in trainings]),
        training_seconds=sum(training.wall_seconds for training in trainings) / len(trainings),
        words_per_second=mean([training.words_per_second for training in trainings]),
        sentences_per_second=mean([translation_speed(log.with_name("test.log")) for log in logs]),
        peak_memory=greatest([peak_memory(log.with_name("peak-memory")) for log in logs]),
        gpu_memory=greatest([training.gpu_memory for training in trainings]),
    )


def check_sizes(name: str, trainings: Sequence[TrainLog]) -> None:
    """Raises ValueError where seeds of one system have different numbers of parameters."""
    sizes = sorted({training.parameters for training in trainings})
    if len(sizes) > 1:
        raise ValueError(f"{name}: its seeds have {' and '.join(map(str, sizes))} parameters: they are not one system")


def translation_speed(log: Path) -> float | None:
    """Sentences a second by fairseq-generate's own count; None without a log or without timing in it."""
    if not log.is_file():
        return None
    speed = read_generate_log(log).speed
    return speed.sentences_per_second if speed else None


def peak_memory(file: Path) -> float | None:
    """The number that `scripts/peak_memory.py` has left; None without its file.

    Raises:
        FileError: if there is no number in it.
    """
    if not file.is_file():
        return None
    text = file.read_text(encoding="utf-8").strip()
    if not text.isdecimal():
        raise FileError(file, f"must be a number of bytes, not {text!r}")
    return float(text)


def greatest(numbers: Sequence[float | None]) -> float | None:
    """The maximum, None if one is not known."""
    known = [number for number in numbers if number is not None]
    return max(known) if len(known) == len(numbers) else None


def mean(numbers: Sequence[float | None]) -> float | None:
    """The mean, None if one is not known: a mean of fewer seeds would pass for one of all."""
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known) if len(known) == len(numbers) else None
