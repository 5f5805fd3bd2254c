"""What fairseq's lstm is aligned with does not depend on the other sentences of a batch."""

import pytest
import torch
from fairseq import utils

from tests.cli import toy
from tests.once import build_once


@pytest.fixture(scope="module")
def lstm(tmp_path_factory):
    """The folder of a corpus, binarized, and a model of it after one update."""

    def build(folder):
        toy.write_corpus(folder, train=20)
        toy.preprocess(folder, folder / "data")
        sizes = ("--encoder-embed-dim", 8, "--decoder-embed-dim", 8, "--decoder-out-embed-dim", 8)
        saved = ("--save-dir", folder / "save", "--max-update", 1)
        toy.run("fairseq-train", folder / "data", *toy.TRAINING, "--arch", "lstm", *sizes, *saved)
        return folder

    return build_once(tmp_path_factory, "lstm", build)


@pytest.mark.parametrize("kind", ["soft", "hard", "hard --score-reference"])
def test_alignments_of_a_batch_are_those_of_each_sentence_alone(lstm, kind):
    # It has not learned to end a sentence.
    limit = ("--max-len-b", 12)
    options = f"--print-alignment {kind}".split()
    together, alone = (
        toy.generate(lstm / "data", lstm / "save" / "checkpoint_last.pt", "--batch-size", size, *limit, *options).stdout
        for size in (20, 1)
    )
    expected, found = toy.lines(alone, "A"), toy.lines(together, "A")
    assert len(expected) == 20
    for number, alignment in expected.items():
        if kind == "soft":
            weights = [
                torch.tensor([[float(weight) for weight in row.split(",")] for row in text.split()])
                for text in (found[number], alignment)
            ]
            torch.testing.assert_close(*weights, atol=2e-6, rtol=0)
        else:
            assert found[number] == alignment


def test_the_padding_that_attention_ignores_is_found_on_either_side():
    pad, eos = 1, 2
    source, target = torch.tensor([pad, pad, 7, 8, eos]), torch.tensor([5, 6, eos])
    left = torch.tensor([[0, 0, 0.1, 0.8, 0.1], [0, 0, 0.7, 0.2, 0.1], [0, 0, 0.2, 0.2, 0.6]])
    right = left.roll(-2, dims=1)
    for attention in (left, right):
        assert utils.extract_hard_alignment(attention.clone(), source, target, pad, eos) == [(1, 0), (0, 1)]
        soft = utils.extract_soft_alignment(attention, source, target, pad, eos)
        assert soft[0] == ["0.100000", "0.800000", "0.100000"]
