import numpy as np
import pytest

from recurrent_mt.evaluation.alignment import read_alignment_log
from recurrent_mt.text_files import FileError
from tests.evaluation.logs import END, block, write

#: What `block` of tests.analysis.logs translates: "source N" into "translation N , 0".
SOFT = " ".join(["0.500000,0.250000,0.250000"] * 5)


def soft_block(number, weights=SOFT, translations=1):
    lines = block(number, translations)
    return [f"A-{number}\t{weights}" if line.startswith("A-") else line for line in lines]


def test_the_best_translations_of_a_log_in_corpus_order(tmp_path):
    path = write(tmp_path / "log", [*soft_block(1, translations=2), *soft_block(0), END])
    alignments = read_alignment_log(path)
    assert [alignment.number for alignment in alignments] == [0, 1]
    assert alignments[1].source == ("source", "1", "</s>")
    assert alignments[1].target == ("translation", "1", ",", "0", "</s>")
    np.testing.assert_array_equal(alignments[1].weights, [[0.5, 0.25, 0.25]] * 5)


BAD_LOGS = {
    "hard": ("0-0 1-1", "line 1: the A line of sentence 0 is no soft alignment: translate with --print-alignment soft"),
    "joined": (" ".join(["0.5,0.5"] * 5), r"weights of shape \(5, 2\): translate without --post-process"),
    "ragged": ("0.5,0.5 1", "the A line of sentence 0 is no soft alignment"),
    "no distribution": (
        SOFT.replace("0.5", "0.7"),
        r"line 1: sentence 0: the weights of .*translate with --batch-size 1, and without --fp16",
    ),
}


@pytest.mark.parametrize(("weights", "message"), BAD_LOGS.values(), ids=BAD_LOGS)
def test_other_alignments_are_named(tmp_path, weights, message):
    with pytest.raises(FileError, match=message):
        read_alignment_log(write(tmp_path / "log", [*soft_block(0, weights), END]))


@pytest.mark.parametrize(("key", "line"), [("S", 2), ("A", 1)])
def test_a_log_without_sources_or_alignments_is_named(tmp_path, key, line):
    lines = [line for line in soft_block(0) if not line.startswith(key)]
    with pytest.raises(FileError, match=f"line {line}: sentence 0 has no S or no A line"):
        read_alignment_log(write(tmp_path / "log", [*lines, END]))
