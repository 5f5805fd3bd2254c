"""The log of fairseq-train or fairseq-hydra-train.

Reports are read in both of the forms that fairseq writes to a file: ``--log-format json``, and ``simple``, the default.

Words a second: target tokens that the model was trained on, the ends of sentences included, divided by the
time they took. Only log intervals with nothing but training in them count: the first after each start
(loading, first-batch costs, restored meters) and those with a validation or a checkpoint in them are left
out. fairseq's own figure for an interval or an epoch includes all of that. With subwords, the tokens are
subwords.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, pairwise
from os import PathLike
from pathlib import Path

from ..text_files import FileError, read_lines
from .outcomes import read_end

#: What fairseq says where a training does not go on from a checkpoint.
BEGINNING = "No existing checkpoint found "
PARAMETERS = re.compile(r"num\. shared model params: (\d[\d,]{0,30})(?![\d,])")
# fairseq-train writes " | train_inner | {…}", fairseq-hydra-train "[train_inner][INFO] - {…}".
REPORT = re.compile(r"(?:\| |\[)(train_inner|train|valid)(?: \||\]).*?(\{\"epoch\".*\})$")
#: In the other format: "epoch 001:    100 / 1240 loss=11.8, …", and at the end of an epoch "epoch 001 | loss 5.9 | …".
SIMPLE_REPORT = re.compile(r"(?:\| |\[)(train_inner|train|valid)(?: \||\]).{0,30}?epoch \d{1,9}(?::| \|)(.*)$")
INTERRUPTION = re.compile(r"begin validation on|Preparing to save checkpoint")
#: What is read of a report, where it is there.
NUMBERS = ("num_updates", "loss", "nll_loss", "wpb", "wps", "wall", "gb_free")
#: The printed encoder layers of fairseq's transformer, and the widths of one.
LAYERS = re.compile(r"\(\d+(?:-\d+)?\): (?:(\d{1,9}) x )?TransformerEncoderLayer(?:Base)?\($")
INNER_LAYER = re.compile(r"\(fc1\): Linear\(in_features=(\d{1,9}), out_features=(\d{1,9}), ")
GPU_MEMORY = re.compile(r"total memory = (\d{1,9}\.\d{1,9}) GB")
GIBIBYTE = 2**30
#: Lines at the end of a log among which the last report is.
END = 200


@dataclass(frozen=True)
class TrainLog:
    """What a training run says of itself."""

    parameters: int  # of the model, shared ones counted once, and `fast_path_copies` not at all
    updates: int  # of the last report
    words_per_second: float | None  # see the module's docstring; None if no whole interval was free of other work
    best_valid_loss: float | None  # per token, base 2; None without a validation, or where it never was a number
    #: from start to last report, the time between calls not counted; None where fairseq has stopped the clock of a call
    #: that resumed, as it does without `fairseq_compat`
    wall_seconds: float | None
    #: updates to validation loss, cross-entropy per token, base 2; of an update that was done twice, the later
    validations: dict[int, float] = field(default_factory=dict)
    #: the most bytes of a GPU that torch had given out in an update before a report; None without a GPU. fairseq writes
    #: to a tenth of a gibibyte, and of the updates between reports nothing is known.
    gpu_memory: float | None = None


class FastPathCopies:
    """Weights of fairseq's transformer that are counted but never trained, by the printed model that a log begins with.

    Each encoder layer of fairseq 0.12.2 keeps a second copy of its matrices and biases for a faster evaluation, filled
    when a trained model is loaded. They are parameters, so that fairseq's own count of a model includes them.
    """

    def __init__(self) -> None:
        self.parameters = 0
        self.layers = 0

    def read(self, text: str) -> None:
        """One line of the log."""
        if match := LAYERS.search(text):
            self.layers = int(match[1] or 1)
        elif self.layers and (match := INNER_LAYER.search(text)):
            width, inner = int(match[1]), int(match[2])
            attention = 4 * (width * width + width)
            self.parameters += self.layers * (attention + 2 * width * inner + inner + width)
            self.layers = 0

    def take(self) -> int:
        """The count of the model that has been read; the next one begins at zero."""
        count, self.parameters = self.parameters, 0
        return count


class ReportTotals:
    """What the reports of a log add up to; speed counts the intervals in which nothing but training happened."""

    def __init__(self) -> None:
        self.updates = 0
        self.validations: dict[int, float] = {}
        self.wall: dict[int, float] = {}  # the last reading of each call: fairseq counts from each start anew
        self.least_free = math.inf
        self.tokens = self.seconds = 0.0
        #: The update that the running interval began with; None once something else than training happened in it, or a
        #: call of fairseq-train began.
        self.first_update: int | None = None

    @property
    def wall_seconds(self) -> float | None:
        """Of all calls; None if one that resumed another has no reading."""
        first, *resumed = self.wall.values() or [0.0]
        return sum(resumed, first) if all(resumed) else None

    def report(self, tag: str, stats: dict[str, float], call: int) -> None:
        """Adds a report: ``train_inner`` at the end of an interval, ``train`` of an epoch, or ``valid``."""
        updates, speed = int(stats["num_updates"]), stats.get("wps", 0)
        self.updates = max(self.updates, updates)
        self.least_free = min(self.least_free, stats.get("gb_free", math.inf))
        if "wall" in stats:
            self.wall[call] = stats["wall"]
        if tag == "valid":
            # With label smoothing, "loss" is no longer the cross-entropy.
            self.validations[updates] = stats.get("nll_loss", stats["loss"])
        elif tag == "train_inner":
            if self.first_update is not None and speed > 0:
                tokens = stats.get("wpb", 0) * (updates - self.first_update)
                self.tokens += tokens
                self.seconds += tokens / speed
            self.first_update = updates


def read_train_log(path: str | PathLike[str]) -> TrainLog:
    """Reads a log, also one to which several calls that resumed each other were appended.

    What came before a call that began anew is left out: another training, or one that was stopped before it was saved.

    A line that a kill cut in half is not a report, and only its interval is lost; the last line of a file may be one.

    Raises:
        FileError: if there is no model in the log, if two models share it, or if it is not UTF-8.
    """
    parameters: list[int] = []
    totals, copies = ReportTotals(), FastPathCopies()
    gpu_size = 0.0
    for (line, text), (following, _) in pairwise(chain(read_lines(path), [(0, "")])):
        if match := PARAMETERS.search(text):
            parameters.append(int(match[1].replace(",", "")) - copies.take())
            if parameters[-1] != parameters[0]:
                raise FileError(path, "a second model, of another size: two runs in one file", line=line)
            totals.first_update = None
        elif match := REPORT.search(text) or (SIMPLE_REPORT.search(text) if following else None):
            totals.report(match[1], parse_report(path, match, line), call=len(parameters))
        elif INTERRUPTION.search(text):
            totals.first_update = None
        elif BEGINNING in text:
            totals = ReportTotals()
        elif match := GPU_MEMORY.search(text):
            gpu_size = float(match[1])
        else:
            copies.read(text)
    if not parameters:
        raise FileError(path, "no line 'num. shared model params': is this the log of fairseq-train?")
    return TrainLog(
        parameters=parameters[0],
        updates=totals.updates,
        words_per_second=totals.tokens / totals.seconds if totals.seconds else None,
        best_valid_loss=min(filter(math.isfinite, totals.validations.values()), default=None),
        wall_seconds=totals.wall_seconds,
        validations=totals.validations,
        gpu_memory=(gpu_size - totals.least_free) * GIBIBYTE if gpu_size and totals.least_free < math.inf else None,
    )


def read_progress(path: str | PathLike[str], limit: int | None = None) -> tuple[int, str] | None:
    """The last update in the log of a training that goes on, and its state in one line; None before its first report.

    ``limit`` is the update that it ends at.
    """
    for text in reversed(read_end(Path(path), END).splitlines()):
        match = REPORT.search(text)
        if match and match[1] == "train_inner":
            with suppress(FileError):
                stats = parse_report(path, match, 0)
                update, speed, words = int(stats["num_updates"]), stats.get("wps", 0.0), stats.get("wpb", 0.0)
                state = (
                    f"update {update:,}{f'/{limit:,}' if limit else ''}, loss {stats['loss']:.3f}, {speed:,.0f} words/s"
                )
                if limit and speed and words:
                    left = max(limit - update, 0) * words / speed
                    state += f", {left / 60:.0f} min left" if left >= 90 else f", {left:.0f} s left"
                return update, state
    return None


def parse_report(path: str | PathLike[str], match: re.Match[str], line: int) -> dict[str, float]:
    """The :data:`NUMBERS` of a report; keys of epochs and validations lose their prefix, as in ``valid_loss``."""
    tag = match[1]
    try:
        stats = parse_simple_report(match[2]) if match.re is SIMPLE_REPORT else json.loads(match[2])
    except (ValueError, RecursionError) as error:
        raise FileError(path, f"a {tag} report that is not JSON: {error}", line=line) from error
    if tag != "train_inner":
        stats = {key.removeprefix(f"{tag}_"): value for key, value in stats.items()}
    if "num_updates" not in stats or "loss" not in stats:
        raise FileError(path, f"a {tag} report without num_updates or loss", line=line)
    numbers = {}
    for name in (name for name in NUMBERS if name in stats):
        with suppress(TypeError, ValueError, OverflowError):
            numbers[name] = float(stats[name])  # in quotes, as fairseq writes them
        # A model that has diverged has any loss.
        if name not in numbers or not (name in ("loss", "nll_loss") or 0 <= numbers[name] < math.inf):
            raise FileError(path, f"a {tag} report whose {name} is {str(stats[name])[:80]!r}", line=line)
    return numbers


def parse_simple_report(text: str) -> dict[str, str]:
    """The numbers by name of "100 / 1240 loss=11.812, wps=1634.8" or "loss 5.964 | wps 923"."""
    parts = (part.replace("=", " ").split() for part in re.split("[,|]", text))
    return {words[-2]: words[-1] for words in parts if len(words) > 1}


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
