"""Alignments, and ``--replace-unk``: which source word takes the place of an unknown one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from fairseq import utils
from fairseq.data import Dictionary

from tests.cli import toy

from .commands import LSTM, generate, train

ALIGNMENT = [(2, 0), (0, 1), (1, 2)]


@pytest.fixture
def words() -> Dictionary:
    dictionary = Dictionary()
    for word in ("le", "ch@@", "at"):
        dictionary.add_symbol(word)
    return dictionary


def replace(words: Dictionary, text: str, *, alignment: object = ALIGNMENT, **options: object) -> tuple:
    """What becomes of a hypothesis for the source ``the c@@ at``, whose ``at`` is in the dictionary of copies."""
    return utils.post_process_prediction(
        hypo_tokens=words.encode_line(text, add_if_not_exist=False, append_eos=True).int(),
        src_str="the c@@ at",
        alignment=alignment,
        **{"align_dict": {"at": "AT"}, "tgt_dict": words, **options},
    )


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        ("le le at", "le le at"),
        ("? le at", "AT le at"),
        ("? ? ?", "AT the c@@"),
    ],
)
def test_an_unknown_word_becomes_the_word_it_is_aligned_with(hypothesis, expected, words):
    tokens, text, alignment = replace(words, hypothesis)
    assert text == expected and alignment == ALIGNMENT
    assert words.string(tokens) == expected


def test_subwords_are_joined_after_the_copy(words):
    """Positions in the alignment count subwords: joined first, the unknown word would be aligned with another."""
    alignment = [(0, 0), (1, 1), (2, 2)]
    tokens, text, _ = replace(words, "ch@@ at ?", alignment=alignment, remove_bpe="@@ ")
    assert text == "chat AT" and words.string(tokens) == "chat AT"
    assert replace(words, "le ? at", alignment=alignment, remove_bpe="@@ ")[1] == "le cat"


@pytest.mark.parametrize(
    ("hypothesis", "alignment", "copies", "expected"),
    [
        # The hypothesis has a word, and the source the same in pieces.
        ("le ?", [(0, 0), (2, 1)], {}, "le copied"),
        ("? le", [(1, 0), (0, 1)], {"copied": "COPY"}, "COPY le"),
        ("? le", [(1, 0), (0, 1)], {"co@@": "COPY"}, "COPY le"),
        # Both have it in pieces.
        ("? ?", [(1, 0), (2, 1)], {}, "copied"),
        ("ch@@ ?", [(0, 0), (2, 1)], {}, "chpied"),
        ("ch@@ ? le", [(0, 0), (1, 1), (0, 2)], {}, "chco le"),
        ("? le", [(3, 0), (0, 1)], {}, "end le"),
    ],
)
def test_of_subwords_the_whole_word_is_copied_where_it_is_whole(hypothesis, alignment, copies, expected, words):
    tokens = words.encode_line(hypothesis, add_if_not_exist=False, append_eos=True).int()
    source = "the co@@ pied end"
    for symbol in ("@@ ", "subword_nmt"):
        found = utils.post_process_prediction(*(tokens, source, alignment, copies, words), remove_bpe=symbol)
        assert found[1] == expected


@pytest.mark.parametrize(
    ("hypothesis", "alignment", "copies", "expected"),
    [
        ("▁le ?", [(0, 0), (1, 1)], {}, "le copied"),
        ("? ▁le", [(1, 0), (0, 1)], {"copied": "COPY"}, "COPY le"),
        ("▁le ▁ ?", [(0, 0), (1, 1), (1, 2)], {}, "le copied"),
        ("▁le ▁ ? ▁le", [(0, 0), (3, 1), (2, 2), (0, 3)], {}, "le copied le"),
        ("▁le ? ?", [(0, 0), (1, 1), (2, 2)], {}, "le copied"),
        ("▁le ?", [(0, 0), (2, 1)], {}, "lepied"),
    ],
)
def test_sentencepieces_too(hypothesis, alignment, copies, expected):
    pieces = Dictionary()
    for piece in ("▁le", "▁"):
        pieces.add_symbol(piece)
    tokens = pieces.encode_line(hypothesis, add_if_not_exist=False, append_eos=True).int()
    source = "▁the ▁co pied ▁end"
    found = utils.post_process_prediction(*(tokens, source, alignment, copies, pieces), remove_bpe="sentencepiece")
    assert found[1] == expected


def test_without_a_file_words_are_copied():
    assert utils.load_align_dict("@@ ") == {} and utils.load_align_dict(None) is None


@pytest.mark.parametrize("alignment", [torch.empty(0), [(0, 0)], [["0.5", "0.5"]] * 3])
def test_without_an_alignment_for_it_an_unknown_word_is_an_error(alignment, words):
    with pytest.raises(ValueError, match=r"--replace-unk looks up source words .*: add --print-alignment hard"):
        replace(words, "le ? at", alignment=alignment)
    assert replace(words, "le le at", alignment=alignment)[1] == "le le at"


@pytest.mark.parametrize(("subwords", "expected"), [(None, "ch@@ at <unk>"), ("@@ ", "chat <unk>")])
def test_unless_asked_for_nothing_is_copied(subwords, expected, words):
    assert replace(words, "ch@@ at ?", align_dict=None, remove_bpe=subwords)[1] == expected


@pytest.fixture(scope="module")
def lstm(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model after one update."""
    folder = tmp_path_factory.mktemp("lstm")
    train(data, folder, "--max-update", 1, model=LSTM)
    return folder / "checkpoint_last.pt"


@pytest.mark.parametrize("kind", ["soft", "hard --score-reference"])
def test_alignments_of_a_batch_are_those_of_each_sentence_alone(data, lstm, kind):
    options = f"--print-alignment {kind}".split()
    together, alone = (generate(data, lstm, "--batch-size", size, "--max-len-b", 8, *options) for size in (20, 1))
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
