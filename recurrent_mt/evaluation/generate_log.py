"""Reads what fairseq-generate prints: sources and n-best lists, in corpus order, and its speed.

What fairseq-interactive prints has the same form, without speed.

A sentence is a block of lines ``KEY-ID<TAB>…``: ``S`` source, then for each hypothesis ``H`` (score, tokens), ``D``
(score, detokenized text) and, with ``--print-alignment``, ``A``. Blocks come in order of length; ids are positions in
the corpus. Other lines are references, scores of tokens, and fairseq's messages.

fairseq prints translations on standard output and most messages, the timing among them, on standard error: a
log of standard output alone has no speed. Whether the last sentences are there is known from the timing and, of
fairseq-interactive, from the number of lines that our repair of it prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from os import PathLike

from ..characters import mark_unknown
from ..text_files import FileError, read_lines

RECORD = re.compile(r"([SHDA])-(\d{1,18})\t(.*)", re.DOTALL)
END = re.compile(r"Generate \S+ with beam=\d+: |.*\| fairseq_cli\.interactive \| Total time: ")
TIMING = re.compile(r"Translated (\d[\d,]{0,17}) sentences \([\d,]+ tokens\) in [\d.]+s \((\d+\.\d+) sentences/s, ")
#: In fairseq-interactive, where fairseq_compat is installed.
READ = re.compile(r".*\| fairseq_cli\.interactive \| Read ([\d,]{1,18}) lines")


@dataclass
class LoggedHypothesis:
    """A translation as a log of fairseq gives it."""

    line: int  # where it stands in the log
    tokens: str  # the text after ``--remove-bpe``
    text: str | None = None  # the text after ``--tokenizer`` as well; the same as `tokens` without it
    alignment: str | None = None  # the ``A`` line as printed, None without one

    @property
    def marked_text(self) -> str:
        """The text as metrics take it, see `mark_unknown`; empty without one."""
        return mark_unknown(self.text or "")


@dataclass
class TranslatedSentence:
    """A source sentence and its translations, best first; `line` is where its block begins."""

    number: int
    line: int
    source: str | None = None
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
    sentences: dict[int, TranslatedSentence] = {}
    current = TranslatedSentence(number=-1, line=0)
    speed = count = end = None
    line = 0
    for line, text in read_lines(path):
        if record := RECORD.fullmatch(text):
            if end is not None:
                raise FileError(path, f"the run ended on line {end}, and here is another sentence", line=line)
            number = int(record[2])
            if number != current.number:
                current = TranslatedSentence(number, line)
                if sentences.setdefault(number, current) is not current:
                    again = f"sentence {number} again (first on line {sentences[number].line}): two runs in one file"
                    raise FileError(path, again, line=line)
            add_record(path, current, record, line)
        elif timing := TIMING.search(text):
            count, speed, end = int(timing[1].replace(",", "")), float(timing[2]), line
        elif read := READ.match(text):
            count = int(read[1].replace(",", "") or 0)
        elif END.match(text):
            end = line
    if sentences and end is None:
        message = "the log ends without 'Translated …' or 'Generate … with beam=…': the run was cut off"
        raise FileError(path, message, line=line)
    return GenerateLog(in_corpus_order(path, sentences, count), speed)


def add_record(path: str | PathLike[str], sentence: TranslatedSentence, record: re.Match[str], line: int) -> None:
    """Adds what one ``KEY-ID`` line says of its sentence."""
    key, _, value = record.groups()
    if key == "S":
        if sentence.source is not None:
            raise FileError(path, f"a second source of sentence {sentence.number}: two runs in one file", line=line)
        sentence.source = value
    elif key == "H":
        sentence.hypotheses.append(LoggedHypothesis(line, text_after_score(path, value, line)))
    elif not sentence.hypotheses:
        message = f"a {key} line of sentence {sentence.number} without an H line before it"
        raise FileError(path, message, line=line)
    elif key == "D":
        if sentence.hypotheses[-1].text is not None:
            message = f"a D line of sentence {sentence.number} without its H line: was there a progress bar?"
            raise FileError(path, message, line=line)
        sentence.hypotheses[-1].text = text_after_score(path, value, line)
    else:
        sentence.hypotheses[-1].alignment = value


def text_after_score(path: str | PathLike[str], value: str, line: int) -> str:
    """The text of ``SCORE<TAB>TEXT``; it may be empty, the tab may not be missing."""
    score, tab, text = value.partition("\t")
    try:
        float(score)
    except ValueError:
        tab = ""
    if not tab:
        raise FileError(path, "expected a score, a tab and a translation: the line is damaged", line=line)
    return text


def in_corpus_order(
    path: str | PathLike[str], sentences: dict[int, TranslatedSentence], announced: int | None
) -> list[TranslatedSentence]:
    """All sentences, each with whole translations; ids must be 0 … n−1, and as many as fairseq counted."""
    if not sentences:
        raise FileError(path, "no sentence in it: is this the output of fairseq-generate?")
    for number, sentence in sentences.items():
        if not sentence.hypotheses:
            raise FileError(path, f"sentence {number} has no translation (H line)", line=sentence.line)
        if cut := next((one for one in sentence.hypotheses if one.text is None), None):
            raise FileError(path, f"a translation of sentence {number} lacks its D line", line=cut.line)
    count = len(sentences)
    missing = max(sentences) + 1 - count
    if missing:
        first = next(number for number in range(count + 1) if number not in sentences)
        message = (
            f"{missing} sentence(s) are missing, the first is number {first}: lines were "
            "lost, or fairseq skipped long sentences (--skip-invalid-size-inputs-valid-test)"
        )
        raise FileError(path, message)
    if announced is not None and count != announced:
        raise FileError(path, f"{count} sentences, but fairseq counted {announced}: lines were lost")
    return [sentences[number] for number in range(count)]
