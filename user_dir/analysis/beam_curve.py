"""What the size of the beam does to translations, with scores divided by length and without."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path

from matplotlib.figure import Figure

from ..metrics import score, split_words
from .generate_log import read_generate_log
from .log_lines import LogError
from .plots import COLOURS, new_axes
from .sentences import read_sentences, require_same_count
from .table import format_number, markdown_table, text_table

NAME = re.compile(r"beam-(\d+)(-unnormalized)?\.log")


@dataclass(frozen=True)
class BeamPoint:
    """One system with one beam.

    Attributes:
        system: its name.
        beam: hypotheses kept; 1 is greedy search.
        normalized: whether a hypothesis' log-probability was divided by its length before the best was chosen.
        bleu: on detokenised text.
        signature: of BLEU.
        length_ratio: words of the translations to words of the references.
        sentences_per_second: fairseq-generate's own figure; None without its timing line.
    """

    system: str
    beam: int
    normalized: bool
    bleu: float
    signature: str
    length_ratio: float
    sentences_per_second: float | None


def read_beams(
    system: str, folder: str | PathLike[str], references: Sequence[str], language: str, lowercase: bool
) -> list[BeamPoint]:
    """Reads ``beam-N.log`` and ``beam-N-unnormalized.log`` with the ``.detokenized`` file beside each.

    Raises:
        LogError: if there is none, or one is damaged or does not fit the reference.
    """
    found = [(NAME.fullmatch(path.name), path) for path in Path(folder).glob("beam-*.log")]
    points = []
    for match, path in found:
        if match is None:
            raise LogError(path, "expected a name like beam-5.log or beam-5-unnormalized.log")
        text = path.with_suffix(".detokenized")
        translations = read_sentences(text)
        require_same_count(text, translations, "the reference", references)
        result = score("bleu", translations, references, target_language=language, lowercase=lowercase)
        words, expected = (sum(map(len, split_words(side, language))) for side in (translations, references))
        speed = read_generate_log(path).speed
        points.append(
            BeamPoint(
                system,
                int(match[1]),
                match[2] is None,
                result.value,
                result.signature,
                words / expected,
                speed.sentences_per_second if speed else None,
            )
        )
    if not points:
        raise LogError(folder, "there is no beam-N.log in it")
    return sorted(points, key=lambda point: (point.beam, not point.normalized))


def beam_rows(points: Sequence[BeamPoint]) -> list[list[str]]:
    """Header and one row a system and beam."""
    rows = [["System", "beam", "BLEU", "length ratio", "BLEU, not divided", "length ratio, not divided", "sentences/s"]]
    pairs: dict[tuple[str, int], dict[bool, BeamPoint]] = {}
    for point in points:
        pairs.setdefault((point.system, point.beam), {})[point.normalized] = point
    for (system, beam), pair in pairs.items():
        cells: list[str] = []
        for normalized in (True, False):
            one = pair.get(normalized)
            cells.append(format_number(one.bleu if one else None, ".2f"))
            cells.append(format_number(one.length_ratio if one else None, ".3f"))
        speed = pair[True].sentences_per_second if True in pair else None
        rows.append([system, str(beam), *cells, format_number(speed, ".1f")])
    return rows


def notes(points: Sequence[BeamPoint]) -> list[str]:
    """What has to be known to read the numbers."""
    return [
        *dict.fromkeys(f"BLEU: {point.signature}" for point in points),
        "Not divided: the best hypothesis is that of the greatest log-probability, whatever its length.",
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
    """BLEU along the beam: solid with scores divided by length, dashed without."""
    figure, axes = new_axes()
    for index, system in enumerate(dict.fromkeys(point.system for point in points)):
        for normalized, style in ((True, "o-"), (False, "o--")):
            line = [one for one in points if (one.system, one.normalized) == (system, normalized)]
            axes.plot(
                [one.beam for one in line],
                [one.bleu for one in line],
                style,
                color=COLOURS[index % len(COLOURS)],
                label=system if normalized else None,
                markersize=4,
            )
    beams = sorted({point.beam for point in points})
    axes.set_xscale("log")
    axes.set_xticks(beams, [str(beam) for beam in beams])
    axes.minorticks_off()
    axes.set_xlabel("beam (dashed: scores not divided by length)")
    axes.set_ylabel("BLEU")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    return figure
