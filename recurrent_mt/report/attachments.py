"""What other commands drew and counted, for the page to show beside its own numbers."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..evaluation.beam_curve import BeamPoint, beam_rows, notes
from ..evaluation.evaluation_tables import TitledTable
from ..evaluation.structure.tree_comparison import DRAWS
from ..evaluation.table import format_number

#: Points: a drawing of less can shrink to a phone's width, one of more gets a row of its own.
NARROW, WIDE = 360, 480
#: Name of a figure of one sentence.
SENTENCE = re.compile(r"sentence-(\d+)")


@dataclass(frozen=True)
class Figure:
    """A drawing.

    Attributes:
        section: heading of the section that it belongs to, for example ``Alignments``.
        title: what the figure shows, one line.
        caption: what has to be known to read it; may be empty.
        svg: the text of an SVG file.
    """

    section: str
    title: str
    caption: str
    svg: str

    def __post_init__(self) -> None:
        """Checks the drawing.

        Raises:
            ValueError: if it is not an SVG.
        """
        try:
            root = ElementTree.fromstring(self.svg)
        except ElementTree.ParseError as error:
            raise ValueError(f"figure {self.title!r} is not well-formed XML: {error}") from error
        if root.tag != "{http://www.w3.org/2000/svg}svg":
            raise ValueError(f"figure {self.title!r} is not an SVG: its outermost element is {root.tag}")

    @property
    def size(self) -> str:
        """How much room it needs: ``narrow`` fits a phone, ``wide`` needs a row of its own."""
        width = re.search(r'<svg[^>]*\bwidth="(\d+(?:\.\d+)?)pt"', self.svg)
        points = float(width[1]) if width else NARROW
        return "narrow" if points < NARROW else "wide" if points > WIDE else ""

    @property
    def address(self) -> str:
        """The drawing for an ``img``: a document apart, which runs no script and loads nothing."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg.encode('utf-8')).decode('ascii')}"


@dataclass(frozen=True)
class Printout:
    """Lines that another program printed, shown as they are; section and title as of a `Figure`."""

    section: str
    title: str
    text: str


@dataclass(frozen=True)
class Results:
    """Numbers of another command as tables; section as of a `Figure`."""

    section: str
    tables: Sequence[TitledTable]


Attachment = Figure | Printout | Results


def read_attachment(section: str, title: str, path: Path) -> Attachment:
    """A file to show.

    A text file of the commands that align, read trees off gates or compare beams has a JSON file beside it, from which
    its tables are made. Any other text file is shown as it is, and every other file must be a drawing.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is neither text nor a drawing, or the JSON file beside it is damaged; names the file.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".txt":
            return Figure(section, name_figure(title, path), "", text)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: a figure must be an SVG file or a text file") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    numbers = path.with_suffix(".json")
    tables = read_tables(title, numbers) if numbers.is_file() else []
    return Results(section, tables) if tables else Printout(section, title, text)


def name_figure(title: str, path: Path) -> str:
    """A title that tells the figures of one system apart; files count sentences from 0, the page from 1."""
    match = SENTENCE.fullmatch(path.stem)
    return f"{title}, sentence {int(match[1]) + 1}" if match and title != path.stem else title


def read_tables(title: str, path: Path) -> list[TitledTable]:
    """The tables of a JSON file; empty if it comes from none of the known commands.

    Raises:
        ValueError: if it is damaged; names the file.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, list):
            points = [BeamPoint(**point) for point in content]
            return [TitledTable(title, beam_rows(points), notes(points))]
        if "sentence_entropies" in content:
            return [alignment_table(title, content)]
        if "all_tokens" in content:
            return tree_tables(title, content)
    except (ValueError, TypeError, LookupError) as error:
        raise ValueError(f"{path}: {error!r}: make it anew with the command that wrote it") from error
    return []


def alignment_table(title: str, summary: Mapping[str, Any]) -> TitledTable:
    """Entropy and, against gold links, the error rate: one row."""
    header = ["System", "sentences", "target words", "entropy, bits", "uniform entropy, bits"]
    row = [title, f"{summary['sentences']:,}", f"{summary['target_words']:,}"]
    row += [format_number(summary[name], ".2f") for name in ("entropy", "uniform_entropy")]
    entropy = (
        "Entropy of a target word's attention weights, on average: the lower, the more focused. "
        "Uniform entropy: what equal weights on all source tokens would give."
    )
    score = summary["score"]
    if score is None:
        return TitledTable("Attention", [header, row], [entropy])
    header += ["alignment error rate, %", "precision, %", "recall, %", "links", "sure gold links"]
    row += [format_number(score[name], ".1f") for name in ("error_rate", "precision", "recall")]
    row += [f"{score[name]:,}" for name in ("links", "sure_links")]
    links = "Links: each target word is linked to the source word that it attends to most."
    return TitledTable("Attention and alignment", [header, row], [entropy, links])


def tree_tables(title: str, comparison: Mapping[str, Any]) -> list[TitledTable]:
    """The trees of a model's gates beside the baselines, with punctuation and without."""
    notes = [
        "Unlabeled bracketing, in percent over all sentences together; phrases of one word and whole sentences do not "
        "count. grConv: the most probable tree by the model's gates. Gates shuffled: the same after shuffling them "
        "within each level; the difference is what their positions say about phrases. "
        f"±: standard deviation over {DRAWS} random draws."
    ]
    tables = []
    for name, key in (("all tokens", "all_tokens"), ("without punctuation", "without_punctuation")):
        rows = [["Tree", "precision", "recall", "F1", "mean F1 of sentences"]]
        for row in comparison[key]:
            score, spread = row["score"], row["spread"]
            precision, recall, f1, mean_f1 = (
                f"{score[field]:.1f}" for field in ("precision", "recall", "f1", "sentence_f1")
            )
            rows.append([row["name"], precision, recall, f1 + ("" if spread is None else f" ±{spread:.1f}"), mean_f1])
        counted = comparison[key][0]["score"]["sentences"]
        size = f"{comparison['sentences']:,} sentences, {counted:,} of them with a phrase to find."
        tables.append(TitledTable(f"{title}, {name}", rows, [size, *notes]))
        notes = []
    return tables


def join_tables(tables: Sequence[TitledTable]) -> list[TitledTable]:
    """The tables, those of one title and header as one with the rows of all."""
    joined: dict[tuple[str, ...], TitledTable] = {}
    for table in tables:
        key = (table.title, *table.rows[0])
        before = joined.get(key)
        joined[key] = table if before is None else replace(before, rows=[*before.rows, *table.rows[1:]])
    return list(joined.values())
