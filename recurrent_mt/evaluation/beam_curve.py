"""What the size of the beam does to translations, and what dividing scores by length does."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..metrics import score, split_words
from ..text_files import FileError, read_sentences, require_same_count
from .figures import COLORS
from .generate_log import read_generate_log
from .table import format_number, markdown_table, text_table

#: ``beam-5.log``: scores divided by length; ``-unnormalized``: not; ``-lenpen-0.6``: divided by length to that power.
NAME = re.compile(r"beam-(\d+)(?:(-unnormalized)|-lenpen-(\d+(?:\.\d+)?))?\.log")
#: Of matplotlib, in the order in which length penalties are drawn.
LINES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class BeamPoint:
    """One system with one beam.

    Attributes:
        system: its name.
        beam: hypotheses kept; 1 is greedy search.
        length_penalty: a hypothesis' log-probability was divided by its length to this power before the best was
            chosen: 1 is fairseq's default, 0 divides by nothing.
        bleu: on detokenised text.
        signature: of BLEU.
        length_ratio: words of the translations to words of the references.
        sentences_per_second: fairseq-generate's own figure; None without its timing line.
    """

    system: str
    beam: int
    length_penalty: float
    bleu: float
    signature: str
    length_ratio: float
    sentences_per_second: float | None


def read_beams(
    system: str, folder: str | PathLike[str], references: Sequence[str], language: str, lowercase: bool
) -> list[BeamPoint]:
    """Reads the logs of `NAME` in a folder, with the ``.detokenized`` file beside each; greatest penalty first.

    Raises:
        FileError: if there is none, one is damaged or does not fit the reference, or two are of one beam and penalty.
    """
    points: dict[tuple[int, float], BeamPoint] = {}
    for path in sorted(Path(folder).glob("beam-*.log")):
        match = NAME.fullmatch(path.name)
        if match is None:
            raise FileError(path, "expected a name like beam-5.log, beam-5-unnormalized.log or beam-5-lenpen-0.6.log")
        key = int(match[1]), 0.0 if match[2] else float(match[3] or 1)
        if key in points:
            raise FileError(path, f"there is another log of beam {key[0]} with the length penalty {key[1]:g}")
        points[key] = read_beam(path, system, key, references, language, lowercase)
    if not points:
        raise FileError(folder, "there is no beam-N.log in it")
    return [points[key] for key in sorted(points, key=lambda key: (key[0], -key[1]))]


def read_beam(
    log: Path, system: str, key: tuple[int, float], references: Sequence[str], language: str, lowercase: bool
) -> BeamPoint:
    """One log with the translations beside it; `key` are beam and length penalty."""
    text = log.with_suffix(".detokenized")
    translations = read_sentences(text)
    require_same_count(text, translations, "the reference", references)
    result = score("bleu", translations, references, target_language=language, lowercase=lowercase)
    words, expected = (sum(map(len, split_words(side, language))) for side in (translations, references))
    speed = read_generate_log(log).speed
    return BeamPoint(
        system, *key, result.value, result.signature, words / expected, speed.sentences_per_second if speed else None
    )


def penalties(points: Sequence[BeamPoint]) -> list[float]:
    """The length penalties that there are, the greatest first."""
    return sorted({point.length_penalty for point in points}, reverse=True)


def divisor(penalty: float) -> str:
    """What scores are divided by."""
    if not penalty:
        return "not divided"
    return "divided by length" if penalty == 1 else f"divided by length^{penalty:g}"


def beam_rows(points: Sequence[BeamPoint]) -> list[list[str]]:
    """Header and one row a system and beam; BLEU and length ratio of each length penalty, the first one's speed."""
    columns = penalties(points)
    header = ["System", "beam"]
    for penalty in columns:
        header += [f"BLEU, lenpen {penalty:g}", "length ratio"]
    rows = [[*header, "sentences/s"]]
    found = {(point.system, point.beam, point.length_penalty): point for point in points}
    for system, beam in dict.fromkeys((point.system, point.beam) for point in points):
        row = [found.get((system, beam, penalty)) for penalty in columns]
        cells: list[str] = []
        for one in row:
            cells.append(format_number(one.bleu if one else None, ".2f"))
            cells.append(format_number(one.length_ratio if one else None, ".3f"))
        speed = row[0].sentences_per_second if row[0] else None
        rows.append([system, str(beam), *cells, format_number(speed, ".1f")])
    return rows


def notes(points: Sequence[BeamPoint]) -> list[str]:
    """What has to be known to read the numbers."""
    return [
        *dict.fromkeys(f"BLEU: {point.signature}" for point in points),
        "Lenpen p: log-probabilities are divided by length^p before the best is chosen; 0: by nothing.",
        "Length ratio: words of the translations to words of the references. "
        f"Sentences/s: lenpen {penalties(points)[0]:g}.",
    ]


def beams_as_text(points: Sequence[BeamPoint]) -> str:
    """For a terminal."""
    return "\n".join([*text_table(beam_rows(points)), "", *notes(points), ""])


def beams_as_markdown(points: Sequence[BeamPoint]) -> str:
    """For a page."""
    return "\n".join([*markdown_table(beam_rows(points)), *(line for note in notes(points) for line in ("", note)), ""])


def beams_as_json(points: Sequence[BeamPoint]) -> str:
    """Everything, unrounded."""
    return json.dumps([asdict(point) for point in points], indent=1, ensure_ascii=False) + "\n"


def beam_figure(points: Sequence[BeamPoint]) -> Figure:
    """BLEU and length ratio along the beam, a colour a system and a line style a length penalty."""
    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    bleu, ratio = figure.subplots(1, 2)
    systems = list(dict.fromkeys(point.system for point in points))
    for index, system in enumerate(systems):
        for place, penalty in enumerate(penalties(points)):
            line = [one for one in points if (one.system, one.length_penalty) == (system, penalty)]
            style = {"linestyle": LINES[place % len(LINES)], "color": COLORS[index % len(COLORS)]}
            beams = [one.beam for one in line]
            bleu.plot(beams, [one.bleu for one in line], marker="o", markersize=4, **style)
            ratio.plot(beams, [one.length_ratio for one in line], marker="o", markersize=4, **style)
    bleu.set_ylabel("BLEU")
    ratio.set_ylabel("length ratio")
    ratio.axhline(1, color="black", linewidth=0.75, zorder=0)
    beams = sorted({point.beam for point in points})
    for axes in (bleu, ratio):
        axes.set_xscale("log")
        axes.set_xticks(beams, [str(beam) for beam in beams])
        axes.minorticks_off()
        axes.set_xlabel("beam")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    keys = [Line2D([], [], color=COLORS[index % len(COLORS)], label=name) for index, name in enumerate(systems)]
    for place, penalty in enumerate(penalties(points)):
        keys.append(Line2D([], [], color="grey", linestyle=LINES[place % len(LINES)], label=divisor(penalty)))
    figure.legend(handles=keys, loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    return figure
