"""Reads what fairseq-generate prints: sources, references and n-best lists, in corpus order, and its speed.

What fairseq-interactive prints has the same form, without references and speed.

A sentence is a block of lines ``KEY-ID<TAB>…``: ``S`` source, ``T`` reference, then for each hypothesis ``H``
(score, tokens), ``D`` (score, detokenized text), ``P`` (a log-probability a token) and, with
``--print-alignment``, ``A``. Blocks come in order of length; ids are positions in the corpus. Other lines are
fairseq's messages.

fairseq prints translations on standard output and most messages, the timing among them, on standard error: a
log of standard output alone has no speed. Whether the last sentences are there is known from the timing, from the
number of words that BLEU counted, and, of fairseq-interactive, from the number of lines that our repair of it prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from os import PathLike

from ..characters import mark_unknown
from ..text_files import FileError, read_lines

RECORD = re.compile(r"([STHDPA])-(\d{1,18})\t(.*)", re.DOTALL)
PROGRESS_BAR = re.compile(r"\d+/\d+ \[[^\]]*\].*[STHDPA]-\d+\t")
END = re.compile(r"Generate \S+ with beam=\d+: |.*\| fairseq_cli\.interactive \| Total time: ")
TIMING = re.compile(r"Translated (\d[\d,]{0,17}) sentences \([\d,]+ tokens\) in [\d.]+s \((\d+\.\d+) sentences/s, ")
#: In fairseq-interactive, where fairseq_compat is installed.
READ = re.compile(r".*\| fairseq_cli\.interactive \| Read ([\d,]{1,18}) lines")
SKIPPED = re.compile(r"([\d,]+) samples have invalid sizes and will be skipped")
BLEU_LENGTH = re.compile(r"Generate \S+ with beam=\d+: BLEU4 = .* syslen=(\d{1,18}), reflen=\d+\)")


@dataclass
class LoggedHypothesis:
    """A translation as a log of fairseq gives it."""

    line: int  # where it stands in the log
    score: float  # log-probability, base 2, divided by the length unless fairseq was told otherwise
    tokens: str  # the text after ``--remove-bpe``
    text: str | None = None  # the text after ``--tokenizer`` as well; the same as `tokens` without it
    #: log-probability, base 2, of each token as the model saw it, the end of sentence last
    token_scores: list[float] | None = None
    alignment: str | None = None  # the ``A`` line as printed, None without one

    @property
    def marked_text(self) -> str:
        """The text as metrics take it, see `mark_unknown`; empty without one."""
        return mark_unknown(self.text or "")


@dataclass
class TranslatedSentence:
    """A source sentence, its reference and its translations, best first; `line` is where its block begins."""

    number: int
    line: int
    source: str | None = None
    reference: str | None = None
    hypotheses: list[LoggedHypothesis] = field(default_factory=list)


@dataclass(frozen=True)
class GenerateLog:
    """A whole log: ``sentences[i]`` is sentence i of the corpus."""

    sentences: list[TranslatedSentence]
    #: sentences a second in the search, without loading and printing; None without a timing line
    speed: float | None

    def best(self) -> list[LoggedHypothesis]:
        """The first hypothesis of each sentence, in corpus order."""
        return [sentence.hypotheses[0] for sentence in self.sentences]


def read_generate_log(path: str | PathLike[str]) -> GenerateLog:
    """Reads a log and checks that it is whole.

    Raises:
        FileError: if the log is cut off, holds two runs, lacks or repeats a sentence, has a broken line, or is
            not UTF-8.
    """
    blocks, messages = SentenceBlocks(path), Messages(path)
    line = 0
    for line, text in read_lines(path):
        if record := RECORD.fullmatch(text):
            if messages.end:
                message = f"the run ended on line {messages.end}, and here is another sentence"
                raise FileError(path, message, line=line)
            blocks.add(record, line)
        else:
            messages.add(text, line)
    if not blocks.sentences:
        raise FileError(path, "no sentence in it: is this the output of fairseq-generate?")
    if messages.end is None:
        message = "the log ends without 'Translated …' or 'Generate … with beam=…': the run was cut off"
        raise FileError(path, message, line=line)
    log = GenerateLog(blocks.in_corpus_order(messages.count), messages.speed)
    if messages.words is not None and messages.words not in count_words(log):
        counts = f"fairseq counted {messages.words} words of translations, here are {count_words(log)[0]}"
        raise FileError(path, f"{counts}: lines were lost")
    return log


def count_words(log: GenerateLog) -> tuple[int, int]:
    """The words of the best translations, as text and as the model saw them: BLEU is of the one or the other.

    To fairseq's BLEU, a translation without words is one word: the end of the sentence.
    """
    best = log.best()
    words = sum(max(1, len((one.text or "").split())) for one in best)
    return words, sum(max(1, len(one.token_scores or [0]) - 1) for one in best)


class Messages:
    """What fairseq says about a whole run.

    Attributes:
        speed: sentences a second.
        end: the line that says that the run is over.
        count: of sentences.
        words: of the best translations, as BLEU counts them.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path
        self.speed: float | None = None
        self.end: int | None = None
        self.count: int | None = None
        self.words: int | None = None

    def add(self, text: str, line: int) -> None:
        """Takes a line that is no record; most say nothing about the whole run."""
        if timing := TIMING.search(text):
            if self.speed is not None:
                raise FileError(self.path, "a second 'Translated … sentences': two runs in one file", line=line)
            self.speed, self.end = float(timing[2]), line
            self.count = int(timing[1].replace(",", ""))
        elif END.match(text):
            self.end = line
            if length := BLEU_LENGTH.match(text):
                self.words = int(length[1])
        elif read := READ.match(text):
            self.count = int(read[1].replace(",", "") or 0)
        elif skipped := SKIPPED.search(text):
            message = (
                f"fairseq skipped {skipped[1]} sentence(s) as too long: leave out "
                "--skip-invalid-size-inputs-valid-test, or the sentences"
            )
            raise FileError(self.path, message, line=line)
        elif PROGRESS_BAR.search(text):
            raise FileError(self.path, "a progress bar runs into the text: use --no-progress-bar", line=line)


class SentenceBlocks:
    """Collects the sentences of one log and refuses what cannot come from one run."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path
        self.sentences: dict[int, TranslatedSentence] = {}
        self.current: TranslatedSentence | None = None

    def add(self, record: re.Match[str], line: int) -> None:
        """Stores one ``KEY-ID`` line."""
        key, number, value = record[1], int(record[2]), record[3]
        if self.current is None or self.current.number != number:
            self.close_block()
            self.current = self.open_block(number, line)
        if key in "ST":
            self.add_side("source" if key == "S" else "reference", value, line)
        elif key == "H":
            self.current.hypotheses.append(LoggedHypothesis(line, *self.split_score(value, line)))
        elif not self.current.hypotheses:
            raise FileError(self.path, f"a {key} line of sentence {number} without an H line before it", line=line)
        else:
            self.add_detail(self.current.hypotheses[-1], key, value, line)

    def open_block(self, number: int, line: int) -> TranslatedSentence:
        """Begins a sentence that must be new."""
        if number in self.sentences:
            first = self.sentences[number].line
            message = f"sentence {number} again (first on line {first}): two runs in one file"
            raise FileError(self.path, message, line=line)
        self.sentences[number] = TranslatedSentence(number, line)
        return self.sentences[number]

    def close_block(self) -> None:
        """Checks that the sentence has translations, and that each of them is complete."""
        if self.current is None:
            return
        place = f"sentence {self.current.number}"
        if not self.current.hypotheses:
            raise FileError(self.path, f"{place} has no translation (H line)", line=self.current.line)
        for hypothesis in self.current.hypotheses:
            if hypothesis.text is None or hypothesis.token_scores is None:
                message = f"a translation of {place} lacks its D or P line"
                raise FileError(self.path, message, line=hypothesis.line)

    def add_side(self, side: str, value: str, line: int) -> None:
        assert self.current
        if self.current.hypotheses or getattr(self.current, side) is not None:
            message = f"a second {side} of sentence {self.current.number}: two runs in one file"
            raise FileError(self.path, message, line=line)
        setattr(self.current, side, value)

    def add_detail(self, hypothesis: LoggedHypothesis, key: str, value: str, line: int) -> None:
        if key == "D":
            hypothesis.text = self.split_score(value, line)[1]
        elif key == "A":
            hypothesis.alignment = value
        else:
            try:
                hypothesis.token_scores = [float(number) for number in value.split()]
            except ValueError as error:
                raise FileError(self.path, f"a P line that is not numbers: {error}", line=line) from error

    def split_score(self, value: str, line: int) -> tuple[float, str]:
        """Splits ``SCORE<TAB>TEXT``; the text may be empty, the tab may not be missing."""
        score, tab, text = value.partition("\t")
        try:
            number = float(score)
        except ValueError:
            tab = ""
        if not tab:
            raise FileError(self.path, "expected a score, a tab and a translation: the line is damaged", line=line)
        return number, text

    def in_corpus_order(self, announced: int | None) -> list[TranslatedSentence]:
        """All sentences; ids must be 0 … n−1, and as many as fairseq counted, where it says so."""
        self.close_block()
        count = len(self.sentences)
        missing = max(self.sentences) + 1 - count
        if missing:
            first = next(number for number in range(count + 1) if number not in self.sentences)
            message = (
                f"{missing} sentence(s) are missing, the first is number {first}: lines were "
                "lost, or fairseq skipped long sentences (--skip-invalid-size-inputs-valid-test)"
            )
            raise FileError(self.path, message)
        if announced is not None and count != announced:
            raise FileError(self.path, f"{count} sentences, but fairseq counted {announced}: lines were lost")
        return [self.sentences[number] for number in range(count)]
