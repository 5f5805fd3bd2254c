"""N-best lists: what a system's search found besides the translation that it chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from ..text_files import FileError, read_sentences
from .generate_log import GenerateLog, Hypothesis, read_generate_log


@dataclass(frozen=True)
class ListedHypothesis:
    """One entry of a list.

    Attributes:
        score: what the search ordered it by: fairseq's log-probability, base 2, divided by a power of the length.
        text: as people write it.
    """

    score: float
    text: str


#: A list for each sentence of the test set, each with its best hypothesis first and at least that one.
NBestLists = Sequence[Sequence[ListedHypothesis]]


def nbest_lists(log: GenerateLog, path: str | PathLike[str]) -> NBestLists | None:
    """The lists of a log; None where each holds the translation alone.

    Args:
        log: of ``fairseq-generate --nbest N``.
        path: of the log, for messages.

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
    return [[listed(hypothesis) for hypothesis in sentence.hypotheses] for sentence in log.sentences]


def listed(hypothesis: Hypothesis) -> ListedHypothesis:
    """Score and text of a hypothesis."""
    return ListedHypothesis(hypothesis.score, hypothesis.text or "")


def read_detokenized_lists(
    log: str | PathLike[str], text: str | PathLike[str], translations: Sequence[str]
) -> NBestLists | None:
    """The scores of a log with detokenised text, one hypothesis a line: of ``scripts/extract_hypotheses.py --all``.

    Args:
        log: of ``fairseq-generate --nbest N``.
        text: the hypotheses of the first sentence, best first, then those of the second …
        translations: the detokenised translations, which the lists must begin with.

    Returns:
        None where each list holds the translation alone.

    Raises:
        FileError: if a file is damaged, or if they do not belong together.
    """
    lists = nbest_lists(read_generate_log(log), log)
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
