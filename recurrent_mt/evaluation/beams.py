"""What the size of the beam does to translations, and what dividing scores by length does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pandas
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..metrics import score, split_words
from ..text_files import FileError, read_sentences, require_same_count
from .figures import COLORS
from .generate_log import read_generate_log
from .records import Record, select_records
from .tables import Cell, Table, format_number

#: ``beam-5.log``: scores divided by length; ``-unnormalized``: not; ``-lenpen-0.6``: divided by length to that power.
NAME = re.compile(r"beam-(\d+)(?:(-unnormalized)|-lenpen-(\d+(?:\.\d+)?))?\.log")
#: Records are ``by`` the length penalty, in buckets of the beam: 1 is greedy search.
BY_BEAM = "beam, lenpen {:g}"
#: Of matplotlib, in the order in which length penalties are drawn.
LINES = ("-", "--", ":", "-.")
LENGTH_RATIO, SPEED = "length ratio", "sentences/s"


def read_beams(
    system: str, folder: str | PathLike[str], references: Sequence[str], language: str, lowercase: bool
) -> tuple[list[Record], str]:
    """Reads the logs of `NAME` in a folder, with the ``.detokenized`` file beside each; greatest penalty first.

    Returns:
        BLEU on detokenized text, length ratio (words of the translations to words of the references) and speed
        (fairseq-generate's own figure) for each beam and length penalty; and BLEU's signature.

    Raises:
        FileError: if there is none, one is damaged or does not fit the reference, or two are of one beam and penalty.
    """
    logs: dict[tuple[int, float], Path] = {}
    for path in sorted(Path(folder).glob("beam-*.log")):
        match = NAME.fullmatch(path.name)
        if match is None:
            raise FileError(path, "expected a name like beam-5.log, beam-5-unnormalized.log or beam-5-lenpen-0.6.log")
        key = int(match[1]), 0.0 if match[2] else float(match[3] or 1)
        if key in logs:
            raise FileError(path, f"there is another log of beam {key[0]} with the length penalty {key[1]:g}")
        logs[key] = path
    if not logs:
        raise FileError(folder, "there is no beam-N.log in it")
    expected = sum(map(len, split_words(references, language)))
    records = []
    for (beam, penalty), log in sorted(logs.items(), key=lambda item: (item[0][0], -item[0][1])):
        text = log.with_suffix(".detokenized")
        translations = read_sentences(text)
        require_same_count(text, translations, "the reference", references)
        bleu = score("bleu", translations, references, target_language=language, lowercase=lowercase)
        speed = read_generate_log(log).speed
        values = {
            bleu.name: bleu.value,
            LENGTH_RATIO: sum(map(len, split_words(translations, language))) / expected,
            SPEED: speed.sentences_per_second if speed else None,
        }
        for metric, value in values.items():
            by = BY_BEAM.format(penalty)
            records.append(Record(system, metric, value, by=by, bucket=str(beam), n=len(references)))
    return records, bleu.signature


def list_penalties(records: pandas.DataFrame) -> list[float]:
    """The length penalties that there are, the greatest first."""
    return sorted({float(by.rpartition(" ")[2]) for by in records["by"]}, reverse=True)


def iterate_beams(records: pandas.DataFrame) -> Iterator[tuple[str, int]]:
    """System and beam, in the order of the records."""
    for system, beam in dict.fromkeys(zip(records["system"], records["bucket"])):
        yield system, int(beam)


def beam_table(records: pandas.DataFrame, signature: str) -> Table:
    """One row a system and beam; BLEU and length ratio of each length penalty, the first one's speed."""
    penalties = list_penalties(records)
    found = records.set_index(["system", "bucket", "by", "metric"])["value"].dropna().to_dict()
    header = ["System", "beam"]
    for penalty in penalties:
        header += [f"BLEU, lenpen {penalty:g}", LENGTH_RATIO]
    names, rows = [], []
    for system, beam in iterate_beams(records):
        cells = [str(beam)]
        for penalty in penalties:
            key = system, str(beam), BY_BEAM.format(penalty)
            cells.append(format_number(found.get((*key, "BLEU")), ".2f"))
            cells.append(format_number(found.get((*key, LENGTH_RATIO)), ".3f"))
        speed = found.get((system, str(beam), BY_BEAM.format(penalties[0]), SPEED))
        names.append(system)
        rows.append([*map(Cell, cells), Cell(format_number(speed, ".1f"))])
    notes = [
        "Lenpen p: log-probabilities are divided by length^p before the best is chosen; 0: by nothing.",
        f"Length ratio: words of the translations to words of the references. Sentences/s: lenpen {penalties[0]:g}.",
    ]
    return Table("", [*header, SPEED], names, rows, notes, [f"BLEU: {signature}"])


def beam_figure(records: pandas.DataFrame) -> Figure:
    """BLEU and length ratio along the beam, a color a system and a line style a length penalty."""
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    penalties = list_penalties(records)
    systems = list(records["system"].unique())
    for axes, metric in zip(figure.subplots(1, 2), ("BLEU", LENGTH_RATIO)):
        for index, system in enumerate(systems):
            for place, penalty in enumerate(penalties):
                line = select_records(records, system=system, metric=metric, by=BY_BEAM.format(penalty))
                style: dict[str, Any] = {"linestyle": LINES[place % len(LINES)], "color": COLORS[index % len(COLORS)]}
                beams = [int(one.bucket) for one in line]
                axes.plot(beams, [one.value for one in line], marker="o", markersize=4, **style)
        axes.set_ylabel(metric)
        axes.set_xscale("log")
        ticks = sorted({beam for _, beam in iterate_beams(records)})
        axes.set_xticks(ticks, list(map(str, ticks)))
        axes.minorticks_off()
        axes.set_xlabel("beam")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    axes.axhline(1, color="black", linewidth=0.75, zorder=0)
    keys = [Line2D([], [], color=COLORS[index % len(COLORS)], label=name) for index, name in enumerate(systems)]
    for place, penalty in enumerate(penalties):
        style = {"color": "gray", "linestyle": LINES[place % len(LINES)], "label": name_divisor(penalty)}
        keys.append(Line2D([], [], **style))
    figure.legend(handles=keys, loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    return figure


def name_divisor(penalty: float) -> str:
    """What scores are divided by."""
    if not penalty:
        return "not divided"
    return "divided by length" if penalty == 1 else f"divided by length^{penalty:g}"
