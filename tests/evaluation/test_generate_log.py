import re

import pytest

from recurrent_mt.evaluation.generate_log import read_generate_log
from recurrent_mt.text_files import FileError
from tests.evaluation.logs import (
    END,
    INTERACTIVE,
    INTERACTIVE_END,
    TIMING,
    block,
    generate_log,
    write,
)


def test_sentences_come_in_corpus_order(tmp_path):
    log = read_generate_log(write(tmp_path / "log", generate_log()))
    assert [sentence.number for sentence in log.sentences] == [0, 1, 2]
    assert [hypothesis.text for hypothesis in log.best()] == [f"translation {n}, 0" for n in range(3)]
    first = log.sentences[0]
    assert first.source == "source 0"
    best = first.hypotheses[0]
    assert (best.tokens, best.alignment) == ("translation 0 , 0", "0-0 1-1")


def test_timing(tmp_path):
    assert read_generate_log(write(tmp_path / "log", generate_log())).speed == 1.2


def test_standard_output_alone_has_no_timing(tmp_path):
    log = read_generate_log(write(tmp_path / "log", [line for line in generate_log() if line != TIMING]))
    assert log.speed is None
    assert len(log.sentences) == 3


def test_lines_that_fairseq_interactive_has_read(tmp_path):
    lines = [*block(0), *block(1), INTERACTIVE + "Read 2 lines", INTERACTIVE_END]
    assert len(read_generate_log(write(tmp_path / "log", lines)).sentences) == 2


def test_n_best_lists_keep_their_order(tmp_path):
    log = read_generate_log(write(tmp_path / "log", generate_log(translations=3)))
    assert [hypothesis.text for hypothesis in log.sentences[1].hypotheses] == [f"translation 1, {n}" for n in range(3)]


def test_without_source_and_alignment(tmp_path):
    lines = [line for line in generate_log() if line[0] not in "SA"]
    sentence = read_generate_log(write(tmp_path / "log", lines)).sentences[2]
    assert (sentence.source, sentence.hypotheses[0].alignment) == (None, None)


def test_an_empty_translation_is_text(tmp_path):
    lines = [line.replace("translation 0 , 0", "").replace("translation 0, 0", "") for line in generate_log()]
    assert read_generate_log(write(tmp_path / "log", lines)).best()[0].text == ""


def test_other_line_separators_belong_to_the_text(tmp_path):
    lines = [line.replace("translation 0, 0", "a\u2028b\x85c\rd") for line in generate_log()]
    assert read_generate_log(write(tmp_path / "log", lines)).best()[0].text == "a\u2028b\x85c d"


COMPLETE = generate_log()
BAD_LOGS = {
    "empty": ([], "no sentence in it"),
    "cut off after a sentence": (COMPLETE[:13], "line 13: the log ends without"),
    "cut off in a sentence": (
        [*COMPLETE[:4], END],
        "line 4: a translation of sentence 2 lacks its D line",
    ),
    "cut off in a line": ([*COMPLETE[:3], "H-2\t-0.5"], "line 4: expected a score, a tab and a translation"),
    "a score that is none": (
        [*COMPLETE[:3], "H-2\tx\ty"],
        "line 4: expected a score, a tab and a translation",
    ),
    "no translation": ([*block(0)[:2], *block(1), END], "line 1: sentence 0 has no translation"),
    "a translation behind a progress bar": (
        [*block(0), "1/1 [00:01] H-0\t-2.0\tsecond", "D-0\t-2.0\tsecond", END],
        "a D line of sentence 0 without its H line",
    ),
    "a sentence twice": ([*block(0), *block(0), END], "a second source of sentence 0"),
    "a detail before its translation": (
        ["D-0\t-1.0\tx", END],
        "line 1: a D line of sentence 0 without an H line",
    ),
    "two runs": (COMPLETE + COMPLETE, r"line 23: the run ended on line 21, and here is another sentence"),
    "two runs that were mixed": (
        [*block(0), *block(1), *block(0), TIMING],
        r"line 13: sentence 0 again \(first on line 1\): two runs in one file",
    ),
    "a missing sentence": (
        [*block(0), *block(3), END],
        r"2 sentence\(s\) are missing, the first is number 1",
    ),
    "fewer than counted": ([*block(0), TIMING], "1 sentences, but fairseq counted 3"),
    "fewer than fairseq-interactive read": (
        [*block(0), *block(1), INTERACTIVE + "Read 1,003 lines", INTERACTIVE_END],
        "2 sentences, but fairseq counted 1003: lines were lost",
    ),
}


@pytest.mark.parametrize(("lines", "message"), BAD_LOGS.values(), ids=BAD_LOGS)
def test_bad_logs_are_named_with_their_line(tmp_path, lines, message):
    path = write(tmp_path / "bad.log", lines)
    with pytest.raises(FileError, match=f"^{re.escape(str(path))}.*{message}"):
        read_generate_log(path)


@pytest.mark.parametrize(
    ("encoding", "message"),
    [("latin-1", "line 3: byte 6 is not UTF-8"), ("utf-16", "line 1: byte 1 is not UTF-8")],
)
def test_a_wrong_encoding_is_named_with_its_line(tmp_path, encoding, message):
    path = tmp_path / "bad.log"
    lines = ["", *block(0), END]
    path.write_bytes("\n".join(lines).replace("reference", "réf").encode(encoding))
    with pytest.raises(FileError, match=message):
        read_generate_log(path)
