"""Searches: repeated n-grams, groups, samples, and constraints."""

from __future__ import annotations

import pytest
import torch
from fairseq.ngram_repeat_block import NGramRepeatBlock
from fairseq.sequence_generator import SequenceGenerator

from tests.models.building import build, sources, task
from user_dir.tasks import native_translation
from user_dir.tasks.native_translation import NativeGenerator

LONGEST = 10


def repeats(words: list[int], size: int) -> bool:
    ngrams = [tuple(words[start : start + size]) for start in range(len(words) - size + 1)]
    return len(set(ngrams)) < len(ngrams)


@pytest.mark.parametrize("generator_class", [SequenceGenerator, NativeGenerator])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_translation_repeats_an_ngram(generator_class: type, size: int, monkeypatch: pytest.MonkeyPatch):
    said: list[str] = []
    monkeypatch.setattr(native_translation, "_log", said.append)
    model = build("gru_encoder", task(target_words=11)).eval()
    # One word follows another whatever was read, so that all translations go round in circles.
    with torch.no_grad():
        model.decoder.output_projection.bias[5:7] += 9
    batch = {"net_input": sources([3, 7, 1])}
    found = {}
    for forbidden in (0, size):
        options = {"beam_size": 3, "min_len": LONGEST - 1, "max_len_b": LONGEST, "no_repeat_ngram_size": forbidden}
        beams = generator_class([model], model.decoder.dictionary, **options).generate([model], batch)
        found[forbidden] = [hypothesis["tokens"].tolist() for beam in beams for hypothesis in beam]
    assert all(repeats(words, size) for words in found[0])
    assert not any(repeats(words, size) for words in found[size])
    assert {words[-1] for words in found[size]} == {model.decoder.dictionary.eos()}
    if generator_class is NativeGenerator:
        assert "repeated n-grams are forbidden" in said


#: Translations of which four words are written, after the symbol that begins them; the rest is padding.
TOKENS = torch.tensor([[2, 5, 6, 5, 6, 1, 1, 1], [2, 5, 5, 5, 5, 1, 1, 1], [2, 5, 6, 7, 8, 1, 1, 1]])


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("scripted", [False, True])
@pytest.mark.parametrize(
    ("size", "step", "forbidden"),
    [
        (1, 0, [set(), set(), set()]),
        (1, 4, [{5, 6}, {5}, {5, 6, 7, 8}]),
        (2, 4, [{5}, {5}, set()]),
        (4, 4, [set(), {5}, set()]),
        (5, 4, [set(), set(), set()]),
    ],
)
def test_what_would_repeat_an_ngram_is_forbidden(scripted: bool, size: int, step: int, forbidden: list[set[int]]):
    block = NGramRepeatBlock(size, use_extension=False)
    scores = torch.zeros(3, 10)
    found = (torch.jit.script(block) if scripted else block)(TOKENS, scores, 3, 1, step)
    assert found is scores or (scripted and found.equal(scores))
    assert [set(row.isinf().nonzero().flatten().tolist()) for row in found] == forbidden


def test_a_word_that_is_the_only_one_possible_remains():
    """A prefix is prescribed that way."""
    block, scores = NGramRepeatBlock(2, use_extension=False), torch.full((3, 10), -torch.inf)
    scores[:, 5], scores[1, 6] = -1.0, -2.0
    expected = scores.clone()
    expected[1, 5] = -torch.inf
    assert block(TOKENS, scores, 3, 1, 4).equal(expected)
