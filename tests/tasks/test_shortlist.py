"""Searches among the target words that the words of a source can become."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from recurrent_mt.shortlist import Shortlist, write_shortlist
from recurrent_mt.text_files import FileError
from tests.checkpoints.checkpoints import small_checkpoint
from tests.kernels.batches import needs_native
from tests.models.building import sources, task
from tests.tasks.test_native_search import model, translate
from user_dir.cli.shortlist import learn_shortlist
from user_dir.tasks.native_translation import NativeGenerator


def shortlist_of(lists, folder, for_task):
    file = folder / "shortlist.tsv"
    write_shortlist(file, lists)
    return Shortlist.read(file, for_task.source_dictionary.symbols, for_task.target_dictionary.symbols)


def every_second_word(for_task):
    words = for_task.target_dictionary.symbols
    return {
        source: [words[4 + number % 3], words[8]] for number, source in enumerate(for_task.source_dictionary.symbols)
    }


@needs_native
@pytest.mark.parametrize("attention", ["none", "additive"])
def test_translations_are_those_among_the_words_of_each_sentence(attention, tmp_path):
    """The same search of a model that scores all other words −∞, one sentence at a time."""
    for_task = task(target_words=60)
    shortlist = shortlist_of(every_second_word(for_task), tmp_path, for_task)
    built, batch = model(attention=attention, vocabulary=64), sources([3, 7, 1, 5])
    expected = []
    for tokens in batch["src_tokens"]:
        words, _ = map(torch.from_numpy, shortlist.select(tokens[tokens != 1][None].numpy()))
        others = torch.ones(64, dtype=torch.bool).index_fill(0, words, False)
        alone = model(attention=attention, vocabulary=64)
        alone.decoder.output_projection.bias.data.masked_fill_(others, -1e9)
        one = {"src_tokens": tokens[tokens != 1][None], "src_lengths": torch.tensor([int((tokens != 1).sum())])}
        expected += translate(NativeGenerator, alone, one)
    generator = NativeGenerator([built], built.decoder.dictionary, beam_size=5, max_len_b=9)
    generator.shortlist = shortlist
    found = generator.generate([built], {"net_input": batch})
    for beam, expected_beam in zip(found, expected, strict=True):
        for hypothesis, other in zip(beam, expected_beam, strict=True):
            length = other["attention"].size(0) if attention != "none" else 0
            hypothesis["attention"] = hypothesis["attention"][-length:] if length else hypothesis["attention"]
            torch.testing.assert_close(hypothesis, other, rtol=1e-5, atol=1e-5)


@needs_native
def test_a_beam_wider_than_the_words_that_a_shortlist_leaves_is_refused(tmp_path):
    for_task = task(target_words=60)
    built = model(attention="none", vocabulary=64)
    generator = NativeGenerator([built], built.decoder.dictionary, beam_size=9)
    generator.shortlist = shortlist_of(every_second_word(for_task), tmp_path, for_task)
    with pytest.raises(ValueError, match="beam must be from 1 to one less than the vocabulary, 6, not 9"):
        generator.generate([built], {"net_input": sources([1, 1])})


def test_a_source_word_without_a_line_has_its_own_spelling_and_what_every_translation_may_have(tmp_path):
    for_task = task(joined=True)
    words = for_task.target_dictionary
    shortlist = shortlist_of({"s1": ["s2", "s3"], "</s>": ["s7"]}, tmp_path, for_task)
    numbers, allowed = shortlist.select(np.array([[1, words.index("s1"), 2], [words.index("s5"), 3, 2]]))
    assert [words[number] for number in numbers] == [*words.symbols[:4], "s2", "s3", "s5", "s7"]
    named = [[words[number] for number in numbers[row]] for row in allowed]
    assert named == [[*words.symbols[:4], "s2", "s3", "s7"], [*words.symbols[:4], "s5", "s7"]]


def test_a_shortlist_of_another_model_is_refused_by_line(tmp_path):
    (tmp_path / "cut").write_text("s1")
    words = task().source_dictionary.symbols
    with pytest.raises(FileError, match=r"line 1: '' is not in the target dictionary"):
        Shortlist.read(tmp_path / "cut", words, task().target_dictionary.symbols)
    with pytest.raises(FileError, match=r"line 2: 'nowhere' is not in the target dictionary"):
        shortlist_of({"s1": ["t1"], "s2": ["nowhere"]}, tmp_path, task())


def test_what_the_native_search_cannot_do_is_refused_with_a_shortlist(tmp_path):
    built = model(decoder_layers=2)
    generator = NativeGenerator([built], built.decoder.dictionary, beam_size=5)
    generator.shortlist = shortlist_of({"s1": ["t1"]}, tmp_path, task())
    with pytest.raises(
        ValueError, match=r"--shortlist is for the native search, which .*: the decoder has more than one"
    ):
        generator.generate([built], {"net_input": sources([3])})


def test_a_word_belongs_to_the_source_word_that_is_attended_to_most(tmp_path, monkeypatch):
    checkpoint = small_checkpoint(tmp_path, "gru_encoder")

    def attend(src_tokens, src_lengths, prev_output_tokens, **_):
        """Target word i attends to source word i, and the end to the end."""
        places = torch.arange(prev_output_tokens.size(1)).clamp(max=src_tokens.size(1) - 1)
        weights = F.one_hot(places, src_tokens.size(1)).float()
        return None, {"attn": [weights.expand(src_tokens.size(0), -1, -1)]}

    monkeypatch.setattr(checkpoint.model, "forward", attend)
    sentences = ["s1 s2", "s1 s2", "s1 s3"], ["t1 t5", "t2 t5", "t1 t6"]
    found = learn_shortlist(checkpoint, *sentences, per_word=1, always=2)
    assert {word: found[word] for word in ("s1", "s2", "s3")} == {"s1": ["t1"], "s2": ["t5"], "s3": ["t6"]}
    assert found["</s>"] == ["</s>", "t1"]
    assert learn_shortlist(checkpoint, *sentences, per_word=2, always=0)["s1"] == ["t1", "t2"]
