"""N-best lists: what a search found besides the translation it chose, and how good a choice from it could be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike

import pandas

from ..text_files import FileError, read_sentences
from .generate_log import GenerateLog, read_generate_log
from .tables import Cell, Record, Table, format_number, metric_cells, pivot_cells, select
from .test_set import ListedHypothesis, NBestLists, TestSet

#: How many hypotheses of a list may be chosen from, as far as lists are that long.
DEPTHS = (1, 2, 5, 10, 20, 50, 100)
BY_DEPTH = "n-best list"
HYPOTHESES, BEST_OF, FIRST_IS_BEST = "hypotheses", "best of n", "first is best, %"


def collect_lists(log: GenerateLog, path: str | PathLike[str]) -> NBestLists | None:
    """The lists of a log of ``fairseq-generate --nbest N``; None where each holds the translation alone.

    Unknown words are marked as in translations.

    Raises:
        FileError: if a hypothesis has a higher score than the one before it.
    """
    for sentence in log.sentences:
        for better, worse in zip(sentence.hypotheses, sentence.hypotheses[1:]):
            if worse.score > better.score:
                message = (
                    f"a hypothesis of sentence {sentence.number} has a score of {worse.score}, but the one before it "
                    f"only {better.score}: an n-best list begins with its best, so lines were lost or put in order"
                )
                raise FileError(path, message, line=worse.line)
    if all(len(sentence.hypotheses) == 1 for sentence in log.sentences):
        return None
    return [[ListedHypothesis(one.score, one.marked_text) for one in sentence.hypotheses] for sentence in log.sentences]


def read_detokenized_lists(
    log: str | PathLike[str], text: str | PathLike[str], translations: Sequence[str]
) -> NBestLists | None:
    """The scores of a log with detokenized text, one hypothesis a line: of ``recurrent-mt hypotheses --all``.

    Args:
        log: of ``fairseq-generate --nbest N``.
        text: the hypotheses of the first sentence, best first, then those of the second …
        translations: the detokenized translations, which the lists must begin with.

    Returns:
        None where each list holds the translation alone.

    Raises:
        FileError: if a file is damaged, or if they do not belong together.
    """
    lists = collect_lists(read_generate_log(log), log)
    if lists is None:
        return None
    lines = read_sentences(text)
    count = sum(map(len, lists))
    if len(lines) != count:
        raise FileError(text, f"{len(lines)} lines, but {log} has {count} hypotheses: it was made from another log")
    if len(lists) != len(translations):
        raise FileError(log, f"{len(lists)} sentences, but there are {len(translations)} translations")
    detokenized = []
    start = 0
    for number, (hypotheses, translation) in enumerate(zip(lists, translations)):
        texts = lines[start : start + len(hypotheses)]
        if texts[0] != translation:
            message = f"the best hypothesis of sentence {number} is not its translation: it was made from another log"
            raise FileError(text, message, line=start + 1)
        detokenized.append([ListedHypothesis(one.score, line) for one, line in zip(hypotheses, texts)])
        start += len(hypotheses)
    return detokenized


def score_lists(
    system: str, lists: NBestLists, test_set: TestSet, *, metric: str, sentence_metric: str, tokenize: str | None = None
) -> tuple[list[Record], list[list[float]]]:
    """Scores every hypothesis by itself, and the corpora that can be made by choosing.

    Args:
        system: its name.
        lists: as many as the test set has sentences.
        test_set: with the references.
        metric: of the corpora.
        sentence_metric: what hypotheses are chosen by; higher is better. The earlier of equal ones is taken.
        tokenize: as of `metrics.score`.

    Returns:
        Records, and the sentence score of each hypothesis: for each n the score of the corpus if of each sentence's
        first n hypotheses the best one is taken (of 1: the score of the translations), how many hypotheses a sentence
        has on average, and the share of sentences in which no hypothesis is better than the first.

    Raises:
        ValueError: if the lists are not as many as the references.
    """
    count = len(lists)
    if count != len(test_set):
        raise ValueError(f"{count} n-best lists for {len(test_set)} references: one each is needed")
    texts = [hypothesis.text for hypotheses in lists for hypothesis in hypotheses]
    references = [reference for hypotheses, reference in zip(lists, test_set.reference) for _ in hypotheses]
    flat = replace(test_set, reference=references).count(sentence_metric, texts)
    numbers = iter(flat.score_sentences())
    scores = [[next(numbers) for _ in hypotheses] for hypotheses in lists]
    longest = max(map(len, lists))
    records = [Record(system, HYPOTHESES, len(texts) / count, by=BY_DEPTH, n=count)]
    for depth in sorted({*(depth for depth in DEPTHS if depth < longest), longest}):
        chosen = [hypotheses[find_best(row[:depth])].text for hypotheses, row in zip(lists, scores)]
        reached = test_set.count(metric, chosen, tokenize=tokenize).score()
        metric_name = f"{reached.name}, {BEST_OF}"
        records.append(Record(system, metric_name, reached.value, by=BY_DEPTH, bucket=str(depth), n=count))
    first = sum(find_best(row) == 0 for row in scores)
    records.append(Record(system, FIRST_IS_BEST, 100 * (first / count), by=BY_DEPTH, n=count))
    return records, scores


def find_best(scores: Sequence[float]) -> int:
    """The place of the highest score, the first one where there are several."""
    return max(range(len(scores)), key=scores.__getitem__)


def nbest_table(records: pandas.DataFrame, metric: str) -> Table:
    """What could be reached by choosing from n-best lists, one row a system; a dash beyond the longest list."""
    chosen = select(records, by=BY_DEPTH)
    reached = select(chosen, metric=f"{metric}, {BEST_OF}")
    depths = sorted(reached["bucket"].unique(), key=int)
    grid = pivot_cells(reached, "system", "bucket", lambda one: Cell(format_number(one.value, ".2f")), header=depths)
    others = metric_cells(chosen, {HYPOTHESES: ".1f", FIRST_IS_BEST: ".1f"})
    grid = others[[HYPOTHESES]].join(grid).join(others[[FIRST_IS_BEST]])
    note = (
        f"Best of n: {metric} of the hypotheses with the highest chrF among the first n of each sentence, chosen by "
        "looking at the reference; it shows how much a better ranking could gain. "
        "Hypotheses: mean number per sentence. "
        "First is best: sentences whose first hypothesis has the highest chrF of its list, ties included."
    )
    header = ["System", HYPOTHESES, *("first" if n == "1" else f"best of {n}" for n in depths), FIRST_IS_BEST]
    caption = f"{metric} of the best in the n-best lists"
    return Table(caption, header, list(grid.index), grid.to_numpy().tolist(), [note])
