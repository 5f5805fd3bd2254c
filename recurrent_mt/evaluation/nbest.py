"""N-best lists: what a search found besides the translation it chose, and how good a choice from it could be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas

from .generate_log import NBestLists
from .tables import Cell, Record, Table, format_number, metric_cells, pivot_cells, select
from .translated_files import TestSet

#: How many hypotheses of a list may be chosen from, as far as lists are that long.
DEPTHS = (1, 2, 5, 10, 20, 50, 100)
#: chrF of single sentences says where systems differ; BLEU of a single sentence is mostly zero or chance.
SENTENCE_METRIC = "chrf"
BY_DEPTH = "n-best list"
HYPOTHESES, REACHED, FIRST_IS_BEST = "hypotheses", "sentence chrF, best of n", "first is best, %"


def score_lists(system: str, lists: NBestLists, test_set: TestSet) -> tuple[list[Record], list[list[float]]]:
    """Scores every hypothesis by itself, and what can be reached by choosing.

    The metric that chooses is the one that is shown: by another, a choice among more could look worse.

    Args:
        system: its name.
        lists: as many as the test set has sentences.
        test_set: with the references.

    Returns:
        Records, and the sentence score of each hypothesis: for each n the mean over sentences of the best score among
        the first n hypotheses (of 1: of the translations), how many hypotheses a sentence has on average, and the share
        of sentences in which no hypothesis is better than the first.

    Raises:
        ValueError: if the lists are not as many as the references.
    """
    count = len(lists)
    if count != len(test_set):
        raise ValueError(f"{count} n-best lists for {len(test_set)} references: one each is needed")
    texts = [hypothesis.text for hypotheses in lists for hypothesis in hypotheses]
    sides = [
        [reference for hypotheses, reference in zip(lists, side) for _ in hypotheses]
        for side in (test_set.reference, *test_set.further_references)
    ]
    flat = replace(test_set, reference=sides[0], further_references=sides[1:]).count(SENTENCE_METRIC, texts)
    numbers = iter(flat.score_sentences())
    scores = [[next(numbers) for _ in hypotheses] for hypotheses in lists]
    longest = max(map(len, lists))
    records = [Record(system, HYPOTHESES, len(texts) / count, by=BY_DEPTH, n=count)]
    for depth in sorted({*(depth for depth in DEPTHS if depth < longest), longest}):
        best = sum(max(row[:depth]) for row in scores) / count
        records.append(Record(system, REACHED, best, by=BY_DEPTH, bucket=str(depth), n=count))
    first = sum(find_best(row) == 0 for row in scores)
    records.append(Record(system, FIRST_IS_BEST, 100 * (first / count), by=BY_DEPTH, n=count))
    return records, scores


def find_best(scores: Sequence[float]) -> int:
    """The place of the highest score, the first one where there are several."""
    return max(range(len(scores)), key=scores.__getitem__)


def nbest_table(records: pandas.DataFrame) -> Table:
    """What could be reached by choosing from n-best lists, one row a system; a dash beyond the longest list."""
    chosen = select(records, by=BY_DEPTH)
    reached = select(chosen, metric=REACHED)
    depths = sorted(reached["bucket"].unique(), key=int)
    grid = pivot_cells(reached, "system", "bucket", lambda one: Cell(format_number(one.value, ".2f")), header=depths)
    others = metric_cells(chosen, {HYPOTHESES: ".1f", FIRST_IS_BEST: ".1f"})
    grid = others[[HYPOTHESES]].join(grid).join(others[[FIRST_IS_BEST]])
    note = (
        "Best of n: the highest chrF among the first n hypotheses of a sentence, found by looking at the reference, on "
        "average over sentences; it shows how much a better ranking could gain. "
        "Hypotheses: mean number per sentence. "
        "First is best: sentences whose first hypothesis has the highest chrF of its list, ties included."
    )
    header = ["System", HYPOTHESES, *("first" if n == "1" else f"best of {n}" for n in depths), FIRST_IS_BEST]
    caption = "Sentence chrF of the best in the n-best lists"
    return Table(caption, header, list(grid.index), grid.to_numpy().tolist(), [note])
