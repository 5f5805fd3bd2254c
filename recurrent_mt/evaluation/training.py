"""What trainings came to: size, loss, speed and memory out of their logs, failures, and learning curves."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path

import numpy as np
import pandas
from matplotlib.figure import Figure

from ..runs.folder import (
    OUTCOME,
    PEAK_MEMORY,
    TRAIN_LOG,
    TRANSLATED,
    seed_folder,
    seed_folders,
    seed_of,
)
from ..runs.outcomes import read_outcome
from ..runs.train_log import GIBIBYTE, read_peak_memory, read_train_log
from ..text_files import FileError
from .figures import choose_mark, new_axes, own_legend, set_style
from .generate_log import read_generate_log
from .tables import UNKNOWN, Cell, Record, Table, format_number, make_frame, pivot, select
from .translated_files import System

BY_TRAINING = "training"
PARAMETERS, UPDATES, SECONDS, VALID_LOSS = "parameters", "updates", "training seconds", "validation loss"
WORDS, SENTENCES = "words/s, training", "sentences/s, translation"
MEMORY, GPU_MEMORY = "peak memory, bytes", "peak GPU memory, bytes"
OPERATIONS = "operations a token"

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


def read_system_trainings(name: str, folder: Path, *, seeds: Collection[int]) -> list[Record]:
    """One system from its folder in a run: trainings whose test set was translated; nothing of one that is not there.

    Raises:
        FileError: if a log is damaged.
        ValueError: if its seeds are models of different size.
    """
    logs = find_ended_logs(Path(seed_folder(folder, seed)) for seed in seeds)
    return read_trainings(name, logs) if logs else []


def read_failures(folder: Path, translations: str, *, seeds: Collection[int]) -> dict[int, str]:
    """What went wrong with a system, by seed: with its training, or with the search that ``translations`` names."""
    outcomes = {
        seed: outcome
        for seed in sorted(seeds)
        for name in (f"{translations}.outcome", OUTCOME)
        if (outcome := read_outcome(Path(seed_folder(folder, seed), name))) is not None and outcome.failed
    }
    return {seed: outcome.reason for seed, outcome in outcomes.items()}


def read_shown_trainings(systems: Iterable[System]) -> pandas.DataFrame:
    """The trainings whose test set was translated, of systems of run folders.

    Raises:
        FileError: if a log is damaged.
        ValueError: if the seeds of one system are models of different size.
    """
    folders = {system.name: system.folder for system in systems if system.folder}
    return make_frame(
        record
        for name, folder in folders.items()
        for record in read_system_trainings(name, folder, seeds=list(map(seed_of, seed_folders(folder))))
    )


def find_ended_logs(folders: Iterable[Path]) -> list[Path]:
    """``train.log`` of each ``seed-N`` whose model has translated the test set, in order; none if all are missing."""
    logs = [folder / TRAIN_LOG for folder in sorted(folders, key=seed_of) if (folder / TRANSLATED).is_file()]
    return logs if any(log.is_file() for log in logs) else []


def read_trainings(name: str, logs: Sequence[Path]) -> list[Record]:
    """One system from the ``train.log`` of each seed and the ``test.log`` and ``peak-memory`` beside it.

    What a missing one would say is unknown.

    Raises:
        FileError: if a log is damaged.
        ValueError: if the seeds are models of different size.
    """
    trainings = [read_train_log(log) if log.is_file() else None for log in logs]
    sizes = sorted({training.parameters for training in trainings if training})
    if len(sizes) > 1:
        raise ValueError(f"{name}: its seeds have {' and '.join(map(str, sizes))} parameters: they are not one system")
    seeds = [str(seed_of(log.parent)) for log in logs]
    searches = [log.with_name("test.log") for log in logs]
    values: dict[str, list[float | None]] = {
        PARAMETERS: [*sizes * len(logs)],
        UPDATES: [getattr(training, "updates", None) for training in trainings],
        VALID_LOSS: [getattr(training, "best_valid_loss", None) for training in trainings],
        SECONDS: [getattr(training, "wall_seconds", None) for training in trainings],
        WORDS: [getattr(training, "words_per_second", None) for training in trainings],
        SENTENCES: [read_generate_log(search).speed if search.is_file() else None for search in searches],
        MEMORY: [read_peak_memory(log.with_name(PEAK_MEMORY)) for log in logs],
        GPU_MEMORY: [getattr(training, "gpu_memory", None) for training in trainings],
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


def read_operations(name: str, files: Mapping[str, Path]) -> Iterable[Record]:
    """What counted a system's operations has left for each seed, and their mean; nothing where it has not run."""
    counts = [json.loads(file.read_text(encoding="utf-8"))["per_token"] for file in files.values()]
    return summarize_seeds(name, OPERATIONS, list(files), counts) if counts else ()


def cost_cells(
    records: pandas.DataFrame, names: Sequence[str], columns: Mapping[str, tuple[str, str, float]]
) -> list[list[Cell]]:
    """A row of cells for each system, a dash for what is not known; columns as in `COLUMNS`."""
    metrics = [metric for metric, _, _ in columns.values()]
    costs = pivot(select(records, by=BY_TRAINING), "system", "metric").reindex(index=names, columns=metrics)
    return [
        [Cell(UNKNOWN if value != value else form.format(value / unit)) for value, (_, form, unit) in row]
        for row in (zip(costs.loc[name], columns.values(), strict=True) for name in names)
    ]


def cost_table(records: pandas.DataFrame, names: Sequence[str]) -> Table:
    """What trainings and searches took, one row a system; dashes for systems without trainings.

    There is a column of GPU memory, if there is any.
    """
    gpu = (select(records, by=BY_TRAINING, metric=GPU_MEMORY)["value"] > 0).any()
    columns = COLUMNS | GPU_COLUMN if gpu else COLUMNS
    rows = cost_cells(records, names, columns)
    notes = [
        "Minutes: of training, with validations and what a kill has undone. Validation loss: the best, bits a token.",
        SPEED_NOTE,
        MEMORY_NOTE,
        *([GPU_NOTE] if gpu else []),
    ]
    return Table("Cost", ["System", *columns], names, rows, notes)


def read_learning_curves(logs: Sequence[str | PathLike[str]]) -> pandas.DataFrame:
    """Validation losses of one system, bits a token: a row an update, a column a log.

    A loss that is no number, as of a training that has diverged, is NaN, and so is then the mean over seeds.

    Raises:
        FileError: if a log is damaged or has no validation, or none that all of them have.
    """
    seeds = [read_train_log(log).validations for log in logs]
    for log, validations in zip(logs, seeds):
        if not validations:
            raise FileError(log, "it has no validation, or is a file of fairseq's --log-file, which does not name them")
    shared = sorted(set.intersection(*map(set, seeds)))
    if not shared:
        raise FileError(logs[0], f"no validation at updates at which the {len(logs) - 1} other logs have one")
    losses = np.array([[losses[update] for losses in seeds] for update in shared])
    return pandas.DataFrame(np.where(np.isfinite(losses), losses, np.nan), index=shared)


def read_shown_curves(systems: Iterable[System]) -> dict[str, pandas.DataFrame]:
    """The learning curves of the systems whose trainings are at hand and have validated at shared updates."""
    curves = {}
    for system in systems:
        logs = find_ended_logs(seed_folders(system.folder)) if system.folder else []
        # What has no curve is no reason to show nothing: a damaged log is found by what reads its costs.
        with suppress(OSError, FileError):
            if logs:
                curves[system.name] = read_learning_curves(logs)
    return curves


def learning_curve_table(curves: Mapping[str, pandas.DataFrame]) -> Table:
    """A row a system, a column an update; means of the seeds ± their standard deviation."""
    updates = sorted({update for curve in curves.values() for update in curve.index})
    rows = []
    for curve in curves.values():
        means, deviations = curve.mean(axis=1, skipna=False), curve.std(axis=1, skipna=False)
        cells = [Cell(str(curve.shape[1]))]
        for update in updates:
            deviation = deviations.get(update, np.nan)
            detail = "" if np.isnan(deviation) else f" ± {deviation:.2f}"
            cells.append(Cell(format_number(means.get(update), ".2f"), detail))
        rows.append(cells)
    header = ["System", "seeds", *(f"{update:,}" for update in updates)]
    return Table("Validation loss", header, list(curves), rows, ["Bits a token, after so many updates."])


@set_style()
def draw_learning_curves(curves: Mapping[str, pandas.DataFrame], names: Sequence[str] = ()) -> Figure:
    """A line a system, the mean of its seeds, against updates; a band from the lowest to the highest.

    Curves are as of `read_learning_curves`; the names of all systems, by default of those that have curves, decide the
    colors by their order.
    """
    figure, axes = new_axes()
    for name, curve in curves.items():
        place = list(names or curves).index(name)
        mark, owner = choose_mark(place), f"system-{place}"
        mean, low, high = (getattr(curve, what)(axis=1, skipna=False) for what in ("mean", "min", "max"))
        axes.plot(curve.index, mean, **mark, markersize=4, label=name, gid=f"{owner}-line")
        axes.fill_between(curve.index, low, high, color=mark["color"], alpha=0.2, linewidth=0, gid=f"{owner}-band")
    axes.set_xlabel("updates")
    axes.set_ylabel("validation loss, bits a token")
    own_legend(axes.legend(handles=axes.lines, frameon=False), axes.lines)
    return figure
