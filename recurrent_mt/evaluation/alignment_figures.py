"""Scores of alignments as records and as a table, and drawings of soft ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .alignment import GoldLinks, Link, SoftAlignment, measure_entropies, score_links
from .figures import set_style
from .tables import ALL, Cell, Record, Table, make_frame, metric_cells, select

#: What `recurrent-mt align` calls the one system that it looks at.
ATTENTION = "attention"
ENTROPY, UNIFORM_ENTROPY = "entropy, bits", "uniform entropy, bits"
ERROR_RATE = "alignment error rate, %"
#: What is counted of links, with the field of `LinkScore` and how it is printed.
LINK_METRICS = {
    ERROR_RATE: ("error_rate", ".1f"),
    "precision, %": ("precision", ".1f"),
    "recall, %": ("recall", ".1f"),
    "links": ("links", ",.0f"),
    "sure gold links": ("sure_links", ",.0f"),
}
#: Inches of a cell and of a character of a label.
CELL, CHARACTER = 0.3, 0.095


def score_alignments(
    system: str, alignments: Sequence[SoftAlignment], gold: Sequence[GoldLinks] | None = None
) -> pandas.DataFrame:
    """Entropy, of each sentence and over all target words, and, against gold links, the error rate.

    Arguments and errors as of `score_links`.
    """
    by_sentence = [measure_entropies(alignment) for alignment in alignments]
    uniform = [np.full(alignment.target_words, np.log2(len(alignment.source))) for alignment in alignments]
    words = sum(map(len, by_sentence))
    records = [
        Record(system, ENTROPY, float(np.concatenate(by_sentence).mean()) if words else None, n=words),
        Record(system, UNIFORM_ENTROPY, float(np.concatenate(uniform).mean()) if words else None, n=words),
    ]
    if gold is not None:
        score = score_links(alignments, gold)
        for metric, (field, _) in LINK_METRICS.items():
            records.append(Record(system, metric, getattr(score, field), n=len(alignments)))
    for number, values in enumerate(by_sentence):
        mean = float(values.mean()) if len(values) else None
        records.append(Record(system, ENTROPY, mean, by="sentence", bucket=str(number), n=len(values)))
    return make_frame(records)


def alignment_table(records: pandas.DataFrame) -> Table:
    """Entropy and, against gold links, the error rate: one row a system."""
    chosen = select(records, by=ALL)
    sentences = records[records["by"] == "sentence"].groupby("system").size()
    forms = {ENTROPY: ".2f", UNIFORM_ENTROPY: ".2f"}
    notes = [
        "Entropy: of the attention weights of a target word, on average; lower is more decided. Uniform: if all source "
        "tokens had the same weight."
    ]
    if (records["metric"] == ERROR_RATE).any():
        forms |= {metric: form for metric, (_, form) in LINK_METRICS.items()}
        notes.append("Each target word is linked to the source word that it attends to most.")
    grid = metric_cells(chosen, forms)
    words = select(chosen, metric=ENTROPY).set_index("system")["n"]
    rows = [[Cell(f"{sentences[name]:,}"), Cell(f"{words[name]:,}"), *row] for name, row in grid.iterrows()]
    return Table("Attention", ["System", "sentences", "target words", *forms], list(grid.index), rows, notes)


@set_style()
def draw_heat_map(
    alignment: SoftAlignment, *, gold: Iterable[Link] = (), source_title: str = "source", target_title: str = "target"
) -> Figure:
    """A soft alignment as a figure, as in Bahdanau et al. (2015), figure 3.

    The source runs from left to right, the target from top to bottom, a weight from 0 (black) to 1 (white).

    Gold links are framed; the titles are those of the axes.
    """
    rows, columns = alignment.weights.shape
    gold = list(gold)
    widest, tallest = (CHARACTER * max(map(len, side)) for side in (alignment.target, alignment.source))
    size = (CELL * columns + widest + 1.9, CELL * max(rows, 4) + tallest + 0.7 + (0.35 if gold else 0.0))
    figure = Figure(figsize=(max(size[0], 3.6), size[1]), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(alignment.weights, cmap="gray", vmin=0, vmax=1, aspect="equal", interpolation="nearest")
    axes.set_xticks(range(columns), alignment.source, rotation=90, fontsize=11)
    axes.set_yticks(range(rows), alignment.target, fontsize=11)
    axes.xaxis.tick_top()
    # By these names a page's script finds the cells and the words.
    axes.set_gid("alignment")
    for side, labels in (("source", axes.get_xticklabels()), ("target", axes.get_yticklabels())):
        for index, label in enumerate(labels):
            label.set_gid(f"{side}-{index}")
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(source_title, labelpad=8)
    axes.set_ylabel(target_title)
    axes.tick_params(length=0)
    frames = [
        Rectangle((source - 0.46, target - 0.46), 0.92, 0.92, fill=False, edgecolor="#e8590c", linewidth=1.6)
        for source, target in gold
    ]
    for frame in frames:
        axes.add_patch(frame)
    if frames:
        figure.legend([frames[0]], ["gold link"], loc="outside lower center", frameon=False, fontsize=9)
    figure.colorbar(image, ax=axes, label="attention weight", fraction=0.06, pad=0.03, shrink=min(1.0, 8 / rows))
    return figure
