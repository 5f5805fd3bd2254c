"""Subwords drawn anew in each epoch: the words stay, the splits change, and the seed decides."""

import pytest
import torch
from fairseq.data import Dictionary, LanguagePairDataset
from fairseq.data.iterators import EpochBatchIterator
from subword_nmt.learn_bpe import learn_bpe

from user_dir.tasks.sampled_translation import BPEDropout, SampledSubwordsDataset

WORDS = ["lower", "lowest", "newer", "newest", "wider", "widest", "low", "new", "wide"]


@pytest.fixture(scope="module")
def codes(tmp_path_factory):
    file = tmp_path_factory.mktemp("subwords") / "codes"
    lines = [" ".join(WORDS[i:] + WORDS[:i]) + "\n" for i in range(9)] * 5
    with open(file, "w") as made:
        learn_bpe(lines, made, 30)
    return file


def dictionary():
    """All characters and all pieces of the words, with and without a mark."""
    words = Dictionary()
    pieces = {word[i:j] for word in WORDS for i in range(len(word)) for j in range(i + 1, len(word) + 1)}
    for piece in sorted(pieces):
        for marked in (piece, f"{piece}@@"):
            words.add_symbol(marked)
    return words


def sampler_and_dictionary(codes, dropout):
    words = dictionary()
    return BPEDropout(codes, dropout, words), words


def encoded(sampler, words, text):
    """A sentence in its usual segmentation, with an unknown word in the middle."""
    half = [words.index(piece) for piece in sampler.split(text, 0)]
    return torch.tensor([*half, words.unk(), *half, words.eos()])


def text_of(sampler, words, tokens):
    parts, unknown = [[]], words.unk()
    for token in tokens.tolist()[:-1]:
        parts.append([]) if token == unknown else parts[-1].append(words[token])
    return [sampler.join(part) for part in parts]


def test_a_sampled_sentence_has_the_same_words_in_other_pieces(codes):
    sampler, words = sampler_and_dictionary(codes, 0.3)
    tokens = encoded(sampler, words, "lowest newer wide")
    drawn = [sampler.resample(tokens, seed) for seed in range(8)]
    assert len({tuple(one.tolist()) for one in drawn}) > 1
    for one in drawn:
        assert text_of(sampler, words, one) == ["lowest newer wide"] * 2
        assert one[-1] == words.eos() and one.dtype == tokens.dtype
    assert sampler.resample(tokens, 3).equal(drawn[3])


def test_words_that_subword_nmt_was_told_to_keep_whole_are_kept(codes):
    sampler, words = sampler_and_dictionary(codes, 0.9)
    words.add_symbol("<2fr>")
    tokens = words.encode_line("<2fr> lowest newer", add_if_not_exist=False).long()
    drawn = [sampler.resample(tokens, seed) for seed in range(8)]
    assert len({tuple(one.tolist()) for one in drawn}) > 1
    assert {words[one[0]] for one in drawn} == {"<2fr>"}
    assert {tuple(text_of(sampler, words, one)) for one in drawn} == {("<2fr> lowest newer",)}


def test_a_word_with_an_unknown_subword_stays_as_it_is(codes):
    sampler, words = sampler_and_dictionary(codes, 0.5)
    word = "ne@@ <unk> ew@@ <unk>"
    tokens = torch.tensor([*(words.index(piece) for piece in f"lowest {word} lowest".split()), words.eos()])
    drawn = {words.string(sampler.resample(tokens, seed)) for seed in range(24)}
    assert len(drawn) > 1
    for one in drawn:
        before, after = one.split(f" {word} ")
        assert [sampler.join(part.split()) for part in (before, after)] == ["lowest"] * 2


def test_what_the_dictionary_lacks_is_not_drawn(codes):
    every, all_pieces = sampler_and_dictionary(codes, 0.5)
    whole = BPEDropout(codes, 0.0, all_pieces).split("lowest newer wide", 0)
    words = Dictionary()
    # As fairseq makes it from the training text, and the characters.
    for piece in [*whole, *(piece for piece in all_pieces.symbols if len(piece.strip("@")) < 2)]:
        words.add_symbol(piece)
    sampler = BPEDropout(codes, 0.5, words)
    tokens = torch.tensor([*(words.index(piece) for piece in whole), words.eos()])
    drawn = [sampler.resample(tokens, seed) for seed in range(40)]
    assert len({tuple(one.tolist()) for one in drawn}) > 1
    assert all(words.unk() not in one for one in drawn)
    assert {tuple(text_of(sampler, words, one)) for one in drawn} == {("lowest newer wide",)}
    assert any(piece not in words for seed in range(40) for piece in every.split("lowest newer wide", seed))


def test_no_piece_of_what_moses_escapes_is_drawn(tmp_path):
    (tmp_path / "text").write_text("l&apos; lowest &amp; newer\n" * 9)
    with open(tmp_path / "text") as lines, open(tmp_path / "codes", "w") as codes:
        learn_bpe(lines, codes, 60)
    words = dictionary()
    for piece in ["l&apos;", "&amp;", ";", *(f"{character}@@" for character in "l&aposm;")]:
        words.add_symbol(piece)
    sampler = BPEDropout(tmp_path / "codes", 0.9, words)
    tokens = words.encode_line("lowest l&apos; lowest &amp; newer", add_if_not_exist=False).long()
    assert "l@@ &@@" in " ".join(sampler.split("l&apos; &amp;", 0)), "what is not protected"
    drawn = {words.string(sampler.resample(tokens, seed)) for seed in range(8)}
    assert len(drawn) > 1
    assert all(" l&apos; " in one and " &amp; " in one for one in drawn)


def sampled_pairs(codes):
    sampler, words = sampler_and_dictionary(codes, 0.4)
    tokens = [encoded(sampler, words, " ".join(WORDS[i : i + 3])) for i in range(6)]
    sizes = [len(one) for one in tokens]
    pairs = LanguagePairDataset(tokens, sizes, words, tokens, sizes, words)
    return SampledSubwordsDataset(pairs, source=sampler, target=sampler, seed=7)


@pytest.mark.parametrize("workers", [0, 1])
def test_each_epoch_draws_other_pieces_with_and_without_a_worker(workers, codes):
    dataset = sampled_pairs(codes)
    batches = [[0, 1, 2], [3, 4, 5]]
    iterator = EpochBatchIterator(dataset, dataset.collater, batches, num_workers=workers, reuse_dataloader=True)
    read = [[batch["target"].tolist() for batch in iterator.next_epoch_itr(shuffle=False)] for _ in range(2)]
    assert read[0] != read[1]
    for epoch, found in enumerate(read, start=1):
        dataset.set_epoch(epoch)
        assert found == [dataset.collater([dataset[i] for i in batch])["target"].tolist() for batch in batches]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file .*codes"),
        (b"hello\n", "codes holds no codes of subword-nmt, which begin with #version"),
        (b"#version: 0.2\na b\nc\n", "codes is a damaged file of subword-nmt's codes"),
        (b"#version: new\na b\n", "codes is a damaged file"),
        (b"#version: 0.2\n\xff b\n", "codes is a damaged file"),
    ],
)
def test_a_file_that_holds_no_codes_is_named(content, message, tmp_path):
    if content:
        (tmp_path / "codes").write_bytes(content)
    with pytest.raises(ValueError, match=f"--sample-subwords: .*{message}"):
        BPEDropout(tmp_path / "codes", 0.1, dictionary())
