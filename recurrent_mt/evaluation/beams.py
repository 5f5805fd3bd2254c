"""What the size of the beam does to translations, and what dividing scores by length does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import cycle, product
from os import PathLike
from pathlib import Path

import pandas
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..metrics import SentenceStatistics, split_words, statistics
from ..text_files import FileError, read_sentences, require_same_count
from .figures import LINES, choose_mark, set_style, style_axes
from .generate_log import read_generate_log
from .tables import Cell, Group, Record, Table, format_number, select
from .words import LENGTH_RATIO, divide

#: ``beam-5.log``: scores divided by length; ``-unnormalized``: not; ``-lenpen-0.6``: divided by length to that power.
NAME = re.compile(r"beam-(\d+)(?:(-unnormalized)|-lenpen-(\d+(?:\.\d+)?))?\.log")
SPEED = "sentences/s"


def read_beams(
    system: str,
    folder: str | PathLike[str],
    references: Sequence[str],
    language: str,
    lowercase: bool,
    searches: Sequence[str] = (),
) -> tuple[list[Record], list[SentenceStatistics]]:
    """Reads the logs of `NAME` in a folder, with the ``.detokenized`` file beside each; greatest penalty first.

    Args:
        system: what the records are of.
        folder: where the logs are. Experiments that share a training share it.
        references: one a translation.
        language: of the references.
        lowercase: ignore case.
        searches: the names of the logs, without ``.log``; none: all that have translations beside them.

    Returns:
        BLEU on detokenized text, length ratio (words of the translations to words of the references) and speed
        (fairseq-generate's own figure) for each beam and length penalty; and BLEU's statistics of each search.

    Raises:
        FileError: if there is none, or one is missing, damaged or does not fit the reference.
    """
    logs: dict[tuple[int, float], Path] = {}
    for path in [Path(folder, f"{name}.log") for name in searches] or find_complete(Path(folder)):
        match = NAME.fullmatch(path.name)
        if match is None:
            raise FileError(path, "expected a name like beam-5.log, beam-5-unnormalized.log or beam-5-lenpen-0.6.log")
        logs[int(match[1]), 0.0 if match[2] else float(match[3] or 1)] = path
    if not logs:
        raise FileError(folder, "there is no beam-N.log with a beam-N.detokenized in it")
    expected = sum(map(len, split_words(references, language)))
    records, counts = [], []
    for (beam, penalty), log in sorted(logs.items(), key=lambda item: (item[0][0], -item[0][1])):
        text = log.with_suffix(".detokenized")
        translations = read_sentences(text)
        require_same_count(text, translations, "the reference", references)
        counts.append(statistics("bleu", translations, references, target_language=language, lowercase=lowercase))
        bleu = counts[-1].score()
        values = {
            bleu.name: bleu.value,
            LENGTH_RATIO: divide(sum(map(len, split_words(translations, language))), expected),
            SPEED: read_generate_log(log).speed,
        }
        by, n = f"beam, lenpen {penalty:g}", len(references)
        records += [
            Record(system, metric, value, by=by, bucket=str(beam), n=n, group=Group.BEAM, penalty=penalty)
            for metric, value in values.items()
        ]
    return records, counts


def find_complete(folder: Path) -> list[Path]:
    """The logs of searches that came to their end: a run that was stopped may leave a log without its translations."""
    return [path for path in sorted(folder.glob("beam-*.log")) if path.with_suffix(".detokenized").exists()]


def beam_table(records: pandas.DataFrame, signature: str) -> Table:
    """One row a system and beam; BLEU and length ratio of each length penalty, the first one's speed."""
    penalties = list_penalties(records)
    found = records.set_index(["system", "bucket", "penalty", "metric"])["value"].dropna().to_dict()
    header = ["System", "beam"]
    for penalty in penalties:
        header += [f"BLEU, lenpen {penalty:g}", LENGTH_RATIO]
    names, rows = [], []
    for system, beam in dict.fromkeys(zip(records["system"], records["bucket"])):
        cells = [beam]
        for penalty in penalties:
            for metric, form in (("BLEU", ".2f"), (LENGTH_RATIO, ".3f")):
                cells.append(format_number(found.get((system, beam, penalty, metric)), form))
        cells.append(format_number(found.get((system, beam, penalties[0], SPEED)), ".1f"))
        names.append(system)
        rows.append(list(map(Cell, cells)))
    notes = [
        "Lenpen p: log-probabilities are divided by length^p before the best is chosen; 0: by nothing.",
        f"Length ratio: words of the translations to words of the references. Sentences/s: lenpen {penalties[0]:g}.",
    ]
    return Table("", [*header, SPEED], names, rows, notes, [f"BLEU: {signature}"])


def list_penalties(records: pandas.DataFrame) -> list[float]:
    """The length penalties that there are, the greatest first."""
    return sorted(records["penalty"].unique().tolist(), reverse=True)


@set_style()
def beam_figure(records: pandas.DataFrame) -> Figure:
    """BLEU and length ratio along the beam, a color and marker a system and a line style a length penalty."""
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    marks = {system: choose_mark(place) for place, system in enumerate(records["system"].unique())}
    styles = dict(zip(list_penalties(records), cycle(LINES)))
    ticks = sorted(map(int, records["bucket"].unique()))
    for axes, metric in zip(figure.subplots(1, 2), ("BLEU", LENGTH_RATIO)):
        for (system, mark), (penalty, style) in product(marks.items(), styles.items()):
            line = select(records, system=system, metric=metric, penalty=penalty)
            axes.plot(line["bucket"].astype(int), line["value"], style, markersize=4, **mark)
        axes.set_ylabel(metric)
        axes.set_xscale("log")
        axes.set_xticks(ticks, list(map(str, ticks)))
        axes.minorticks_off()
        axes.set_xlabel("beam")
        style_axes(axes)
    axes.axhline(1, color="black", linewidth=0.75, zorder=0)
    keys = [Line2D([], [], markersize=4, label=name, **mark) for name, mark in marks.items()]
    keys += [Line2D([], [], color="gray", linestyle=style, label=name_divisor(one)) for one, style in styles.items()]
    figure.legend(handles=keys, loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    return figure


def name_divisor(penalty: float) -> str:
    """What scores are divided by."""
    if not penalty:
        return "not divided"
    return "divided by length" if penalty == 1 else f"divided by length^{penalty:g}"
