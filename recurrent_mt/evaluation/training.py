"""What trainings came to: size, loss, speed and memory out of their logs, and failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import pandas

from ..text_files import FileError
from .generate_log import read_generate_log
from .records import Record, make_frame, select_records
from .run_folder import RunFolder, seed_of
from .tables import UNKNOWN, Cell, Table
from .train_log import GIBIBYTE, read_train_log

BY_TRAINING = "training"
PARAMETERS, UPDATES, SECONDS, VALID_LOSS = "parameters", "updates", "training seconds", "validation loss"
WORDS, SENTENCES = "words/s, training", "sentences/s, translation"
MEMORY, GPU_MEMORY = "peak memory, bytes", "peak GPU memory, bytes"

#: Columns of costs: what is shown, how, and in which unit.
COLUMNS = {
    "parameters": (PARAMETERS, "{:,.0f}", 1),
    "updates": (UPDATES, "{:,.0f}", 1),
    "minutes": (SECONDS, "{:,.1f}", 60),
    "valid. loss": (VALID_LOSS, "{:.3f}", 1),
    "words/s": (WORDS, "{:,.0f}", 1),
    "sentences/s": (SENTENCES, "{:,.1f}", 1),
    "memory": (MEMORY, "{:.2f} GiB", GIBIBYTE),
}
GPU_COLUMN = {"GPU": (GPU_MEMORY, "{:.2f} GiB", GIBIBYTE)}

SPEED_NOTE = (
    "Words/s: target tokens per second in training, end-of-sentence tokens included, over the log intervals in which "
    "nothing but training happened. Sentences/s: speed of translation as fairseq-generate reports it, without loading."
)
MEMORY_NOTE = "Memory: of the training process at its largest, by the kernel's count; of the seed that took most."
GPU_NOTE = "GPU: what torch had given out at its most, in the updates that fairseq reports; of the seed that took most."


@dataclass(frozen=True)
class TrainedSystem:
    """What became of one system."""

    name: str
    records: Sequence[Record] = ()  # of its trainings that count; empty if none does
    failures: dict[int, str] = field(default_factory=dict)  # seed to what went wrong

    @property
    def status(self) -> str:
        """Why there is no score."""
        return "failed" if self.failures else "not yet"

    @property
    def failure_notes(self) -> list[str]:
        """What went wrong, a line a seed."""
        return [f"{self.name}, seed {seed}, failed: {why.rstrip('.')}." for seed, why in self.failures.items()]


def read_trained_system(name: str, folder: Path, *, seeds: Collection[int] | None = None) -> TrainedSystem:
    """One system from its folder in a run: trainings whose test set was translated; nothing of one that is not there.

    The folder has a ``seed-N`` for each training; None for all seeds.

    Raises:
        FileError: if a log is damaged.
        ValueError: if its seeds are models of different size.
    """
    found = [path for path in folder.glob("seed-*") if seeds is None or seed_of(path / "train.log") in seeds]
    failures = {
        seed_of(path / "failure"): (path / "failure").read_text(encoding="utf-8").strip()
        for path in found
        if (path / "failure").is_file()
    }
    logs = find_ended_logs(found)
    return TrainedSystem(name, read_trainings(name, logs) if logs else (), dict(sorted(failures.items())))


def read_run_trainings(paths: Sequence[str | PathLike[str]]) -> pandas.DataFrame:
    """The trainings whose test set was translated, of every system in the run folders, in the order of their names.

    Raises:
        FileError: if a folder is not that of a run, or a log is damaged.
        ValueError: if the seeds of one system are models of different size.
    """
    found = [(run, folder) for run in map(RunFolder, paths) for folder in sorted((run.path / "systems").glob("*"))]
    names = Counter(folder.name for _, folder in found)
    records: list[Record] = []
    for run, folder in found:
        logs = find_ended_logs(folder.glob("seed-*"))
        if logs:
            name = f"{run.path.name}/{folder.name}" if names[folder.name] > 1 else folder.name
            records += read_trainings(name, logs)
    return make_frame(records)


def find_ended_logs(folders: Iterable[Path]) -> list[Path]:
    """The ``train.log`` in each ``seed-N`` whose model has translated the test set; seeds in order."""
    logs = [folder / "train.log" for folder in folders if (folder / "test.detokenized").is_file()]
    return sorted((log for log in logs if log.is_file()), key=seed_of)


def read_trainings(name: str, logs: Sequence[Path]) -> list[Record]:
    """One system from the ``train.log`` of each seed and the ``test.log`` and ``peak-memory`` beside it.

    Raises:
        FileError: if a log is damaged.
        ValueError: if the seeds are models of different size.
    """
    trainings = [read_train_log(log) for log in logs]
    sizes = sorted({training.parameters for training in trainings})
    if len(sizes) > 1:
        raise ValueError(f"{name}: its seeds have {' and '.join(map(str, sizes))} parameters: they are not one system")
    seeds = [str(seed_of(log)) for log in logs]
    values: dict[str, list[float | None]] = {
        PARAMETERS: [training.parameters for training in trainings],
        UPDATES: [training.updates for training in trainings],
        VALID_LOSS: [training.best_valid_loss for training in trainings],
        SECONDS: [training.wall_seconds for training in trainings],
        WORDS: [training.words_per_second for training in trainings],
        SENTENCES: [read_translation_speed(log.with_name("test.log")) for log in logs],
        MEMORY: [read_peak_memory(log.with_name("peak-memory")) for log in logs],
        GPU_MEMORY: [training.gpu_memory for training in trainings],
    }
    return [record for metric, column in values.items() for record in summarize_seeds(name, metric, seeds, column)]


def summarize_seeds(system: str, metric: str, seeds: Sequence[str], values: Sequence[float | None]) -> Iterable[Record]:
    """A record a seed and one over all: the mean, of memory the greatest; unknown if one seed's is.

    A mean of fewer seeds would pass for one of all.
    """
    for seed, value in zip(seeds, values, strict=True):
        yield Record(system, metric, value, seed=seed, by=BY_TRAINING, n=1)
    known = [value for value in values if value is not None]
    total = None
    if len(known) == len(values):
        total = max(known) if metric in (MEMORY, GPU_MEMORY) else sum(known) / len(known)
    yield Record(system, metric, total, by=BY_TRAINING, n=len(values))


def read_translation_speed(log: Path) -> float | None:
    """Sentences a second by fairseq-generate's own count; None without a log or without timing in it."""
    if not log.is_file():
        return None
    speed = read_generate_log(log).speed
    return speed.sentences_per_second if speed else None


def read_peak_memory(file: Path) -> float | None:
    """The bytes that `recurrent-mt training` has written; None without its file.

    Raises:
        FileError: if there is no number in it.
    """
    if not file.is_file():
        return None
    text = file.read_text(encoding="utf-8").strip()
    if not text.isdecimal():
        raise FileError(file, f"must be a number of bytes, not {text!r}")
    return float(text)


def find_costs(records: pandas.DataFrame, system: str) -> dict[str, float | None]:
    """Metric to value over all seeds; empty for a system without trainings."""
    return {record.metric: record.value for record in select_records(records, by=BY_TRAINING, system=system)}


def cost_table(records: pandas.DataFrame, names: Sequence[str], *, rates: dict[str, str] | None = None) -> Table:
    """What trainings and searches took, one row a system; dashes for systems without trainings.

    There is a column of GPU memory, and of the learning rates chosen (by system), if there are any.
    """
    gpu = any(record.value for record in select_records(records, by=BY_TRAINING, metric=GPU_MEMORY))
    columns = COLUMNS | GPU_COLUMN if gpu else COLUMNS
    header = ["System", *(["rate"] if rates else []), *columns]
    rows = []
    for name in names:
        rate = [Cell(rates.get(name, UNKNOWN))] if rates else []
        rows.append([*rate, *cost_cells(find_costs(records, name), columns)])
    notes = [
        "Minutes: of training, with validations and what a kill has undone. Validation loss: the best, bits a token.",
        SPEED_NOTE,
        MEMORY_NOTE,
        *([GPU_NOTE] if gpu else []),
    ]
    return Table("Cost", header, names, rows, notes)


def cost_cells(costs: Mapping[str, float | None], columns: Mapping[str, tuple[str, str, float]]) -> list[Cell]:
    """The cells of one system, a dash for what is not known."""
    values = [(costs.get(metric), form, unit) for metric, form, unit in columns.values()]
    return [Cell(UNKNOWN if value is None else form.format(value / unit)) for value, form, unit in values]
