"""Subwords drawn anew in each epoch: the words stay, the splits change, and the seed decides."""

import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch
from fairseq.data import Dictionary, LanguagePairDataset
from fairseq.data.iterators import EpochBatchIterator
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from subword_nmt.learn_bpe import learn_bpe

from tests.commands import REPOSITORY
from user_dir.tasks.sampled_translation import SampledSubwordsDataset, load_sampler

WORDS = ["lower", "lowest", "newer", "newest", "wider", "widest", "low", "new", "wide"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("subwords")
    text = folder / "text"
    text.write_text("".join(" ".join(WORDS[i:] + WORDS[:i]) + "\n" for i in range(9)) * 5)
    with open(text) as lines, open(folder / "bpe", "w") as codes:
        learn_bpe(lines, codes, 30)
    for kind in ("unigram", "bpe"):
        SentencePieceTrainer.train(
            input=str(text), model_prefix=str(folder / kind), vocab_size=22, model_type=kind, minloglevel=2
        )
    return {"BPE-dropout": folder / "bpe", "unigram": folder / "unigram.model", "bpe": folder / "bpe.model"}


def dictionary():
    """All characters and all pieces of the words, with both kinds of marks."""
    words = Dictionary()
    pieces = {word[i:j] for word in WORDS for i in range(len(word)) for j in range(i + 1, len(word) + 1)}
    for piece in sorted(pieces):
        for marked in (piece, f"{piece}@@", f"▁{piece}"):
            words.add_symbol(marked)
    words.add_symbol("▁")
    return words


def sampler_and_dictionary(file, dropout):
    words = dictionary()
    return load_sampler(file, dropout, words), words


def encoded(sampler, words, text):
    """A sentence in its usual segmentation, with an unknown word in the middle."""
    half = [words.index(piece) for piece in sampler.split(text, 0)]
    return torch.tensor([*half, words.unk(), *half, words.eos()])


def text_of(sampler, words, tokens):
    parts, unknown = [[]], words.unk()
    for token in tokens.tolist()[:-1]:
        parts.append([]) if token == unknown else parts[-1].append(words[token])
    return [sampler.join(part) for part in parts]


@pytest.mark.parametrize("kind", ["BPE-dropout", "unigram"])
def test_a_sampled_sentence_has_the_same_words_in_other_pieces(kind, files):
    sampler, words = sampler_and_dictionary(files[kind], 0.3)
    tokens = encoded(sampler, words, "lowest newer wide")
    drawn = [sampler.resample(tokens, seed) for seed in range(8)]
    assert len({tuple(one.tolist()) for one in drawn}) > 1
    for one in drawn:
        assert text_of(sampler, words, one) == ["lowest newer wide"] * 2
        assert one[-1] == words.eos() and one.dtype == tokens.dtype
    assert sampler.resample(tokens, 3).equal(drawn[3])


def test_words_that_subword_nmt_was_told_to_keep_whole_are_kept(files):
    sampler, words = sampler_and_dictionary(files["BPE-dropout"], 0.9)
    words.add_symbol("<2fr>")
    tokens = words.encode_line("<2fr> lowest newer", add_if_not_exist=False).long()
    drawn = [sampler.resample(tokens, seed) for seed in range(8)]
    assert len({tuple(one.tolist()) for one in drawn}) > 1
    assert {words[one[0]] for one in drawn} == {"<2fr>"}
    assert {tuple(text_of(sampler, words, one)) for one in drawn} == {("<2fr> lowest newer",)}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("BPE-dropout", "{lowest} ne@@ <unk> ew@@ <unk> {lowest}"),
        ("unigram", "{lowest} ▁ne <unk> ew <unk> w {lowest}"),
    ],
)
def test_a_word_with_an_unknown_subword_stays_as_it_is(kind, text, files):
    sampler, words = sampler_and_dictionary(files[kind], 0.1 if kind == "unigram" else 0.5)
    word = text.removeprefix("{lowest} ").removesuffix(" {lowest}")
    lowest = "lowest" if kind == "BPE-dropout" else " ".join(sampler.split("lowest", 0))
    text = text.format(lowest=lowest)
    tokens = torch.tensor([*(words.index(piece) for piece in text.split()), words.eos()])
    drawn = {words.string(sampler.resample(tokens, seed)) for seed in range(24)}
    assert len(drawn) > 1
    for one in drawn:
        before, after = one.split(f" {word} ")
        assert [sampler.join(part.split()) for part in (before, after)] == ["lowest"] * 2


@pytest.mark.parametrize("tag", ["<2fr>", "__fr__", "▁<2fr>"])
def test_a_tag_that_sentencepiece_has_not_seen_stays_and_the_sentence_is_sampled(tag, files):
    sampler, words = sampler_and_dictionary(files["unigram"], 0.1)
    words.add_symbol(tag)
    tokens = torch.tensor([words.index(piece) for piece in (tag, *sampler.split("lowest newer", 0))] + [words.eos()])
    drawn = {words.string(sampler.resample(tokens, seed)) for seed in range(24)}
    assert len(drawn) > 1
    assert {one.partition(" ")[0] for one in drawn} == {tag}
    assert {sampler.join(one.split()[1:]) for one in drawn} == {"lowest newer"}


@pytest.mark.parametrize("option", [{"treat_whitespace_as_suffix": True}, {"split_by_whitespace": False}])
def test_pieces_that_reach_over_spaces_are_refused(option, tmp_path):
    lines = [" ".join(WORDS[i:] + WORDS[:i]) for i in range(9)] * 5
    SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=str(tmp_path / "model"), vocab_size=22, minloglevel=2, **option
    )
    with pytest.raises(ValueError, match="has pieces that end in a space or reach over one"):
        load_sampler(tmp_path / "model.model", 0.1, dictionary())


def test_unigrams_segmentations_have_their_probabilities(files):
    """Of all that there are of a word, counted by hand, to the power of alpha."""
    sampler, _ = sampler_and_dictionary(files["unigram"], 0.2)
    model = SentencePieceProcessor(model_file=str(files["unigram"]))

    def segmentations(text):
        if not text:
            yield []
        for end in range(1, len(text) + 1):
            if not model.is_unknown(model.piece_to_id(text[:end])):
                yield from ([text[:end], *rest] for rest in segmentations(text[end:]))

    every = [tuple(one) for one in segmentations("▁lowest")]
    weights = [math.exp(0.2 * sum(model.get_score(model.piece_to_id(piece)) for piece in one)) for one in every]
    drawn = Counter(tuple(sampler.split("lowest", seed)) for seed in range(4000))
    assert len(every) > 2 and set(drawn) == set(every)
    for one, weight in zip(every, weights):
        assert drawn[one] / 4000 == pytest.approx(weight / sum(weights), abs=0.03)


def test_a_sentencepiece_model_of_merges_is_refused(files):
    with pytest.raises(ValueError, match=r"bpe.model is no unigram model, .* for BPE, give subword-nmt's codes"):
        load_sampler(files["bpe"], 0.1, dictionary())


def test_another_process_draws_the_same(files):
    """SentencePiece's own generator mixes something of the process into its seed."""
    made_by = [str(files[kind]) for kind in ("BPE-dropout", "unigram")]
    program = (
        "from pathlib import Path; from tests.tasks.test_subword_sampling import sampler_and_dictionary as load;"
        f"print([load(Path(path), 0.3)[0].split('lowest newer wide', 5) for path in {made_by}])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    here = [sampler_and_dictionary(Path(path), 0.3)[0].split("lowest newer wide", 5) for path in made_by]
    assert done.stdout.strip() == str(here)


def test_bytes_and_symbols_that_are_kept_whole_are_not_drawn(tmp_path):
    lines = [" ".join([*WORDS[i:], "<x>", *WORDS[:i]]) for i in range(9)] * 5
    options = {"vocab_size": 256 + 30, "byte_fallback": True, "user_defined_symbols": ["<x>"], "minloglevel": 2}
    SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_prefix=str(tmp_path / "unigram"),
        hard_vocab_limit=False,
        **options,
    )
    model = SentencePieceProcessor(model_file=str(tmp_path / "unigram.model"))
    words = dictionary()
    for number in range(model.vocab_size()):
        words.add_symbol(model.id_to_piece(number))
    sampler = load_sampler(tmp_path / "unigram.model", 0.3, words)
    pieces = model.encode("lowest é newer <x> wide", out_type=str)
    assert "<0xC3>" in pieces and "<x>" in pieces
    tokens = torch.tensor([*map(words.index, pieces), words.eos()])
    drawn = [[words[number] for number in sampler.resample(tokens, seed).tolist()[:-1]] for seed in range(9)]
    assert len(set(map(tuple, drawn))) > 1
    assert {model.decode_pieces(one) for one in drawn} == {"lowest é newer <x> wide"}


@pytest.mark.parametrize("kind", ["BPE-dropout", "unigram"])
def test_what_the_dictionary_lacks_is_not_drawn(kind, files):
    dropout = 0.1 if kind == "unigram" else 0.5
    every, all_pieces = sampler_and_dictionary(files[kind], dropout)
    whole = load_sampler(files[kind], 0.0, all_pieces).split("lowest newer wide", 0)
    words = Dictionary()
    # As fairseq makes it from the training text, and the characters.
    for piece in [*whole, *(piece for piece in all_pieces.symbols if len(piece.strip("▁@")) < 2)]:
        words.add_symbol(piece)
    sampler = load_sampler(files[kind], dropout, words)
    tokens = torch.tensor([*(words.index(piece) for piece in whole), words.eos()])
    drawn = [sampler.resample(tokens, seed) for seed in range(40)]
    assert len({tuple(one.tolist()) for one in drawn}) > 1
    assert all(words.unk() not in one for one in drawn)
    assert {tuple(text_of(sampler, words, one)) for one in drawn} == {("lowest newer wide",)}
    assert any(piece not in words for seed in range(40) for piece in every.split("lowest newer wide", seed))
    assert all(piece in words for seed in range(40) for piece in sampler.split("lowest newer wide", seed))


def test_no_piece_of_what_moses_escapes_is_drawn(tmp_path):
    (tmp_path / "text").write_text("l&apos; lowest &amp; newer\n" * 9)
    with open(tmp_path / "text") as lines, open(tmp_path / "codes", "w") as codes:
        learn_bpe(lines, codes, 60)
    words = dictionary()
    for piece in ["l&apos;", "&amp;", ";", *(f"{character}@@" for character in "l&aposm;")]:
        words.add_symbol(piece)
    sampler = load_sampler(tmp_path / "codes", 0.9, words)
    tokens = words.encode_line("lowest l&apos; lowest &amp; newer", add_if_not_exist=False).long()
    assert "l@@ &@@" in " ".join(sampler.split("l&apos; &amp;", 0)), "what is not protected"
    drawn = {words.string(sampler.resample(tokens, seed)) for seed in range(8)}
    assert len(drawn) > 1
    assert all(" l&apos; " in one and " &amp; " in one for one in drawn)


def test_without_dropout_bpe_is_the_usual_one(files):
    sampler, words = sampler_and_dictionary(files["BPE-dropout"], 0.0)
    tokens = encoded(sampler, words, "lowest newer wide")
    assert sampler.resample(tokens, 5).equal(tokens)


def sampled_pairs(codes):
    sampler, words = sampler_and_dictionary(codes, 0.4)
    tokens = [encoded(sampler, words, " ".join(WORDS[i : i + 3])) for i in range(6)]
    sizes = [len(one) for one in tokens]
    pairs = LanguagePairDataset(tokens, sizes, words, tokens, sizes, words)
    return SampledSubwordsDataset(pairs, source=sampler, target=sampler, seed=7)


def test_each_epoch_draws_other_pieces_and_the_same_epoch_the_same(files):
    dataset = sampled_pairs(files["BPE-dropout"])

    def epoch(number):
        dataset.set_epoch(number)
        return [dataset[i][side].tolist() for i in range(6) for side in ("source", "target")]

    first = epoch(1)
    assert first != epoch(2) and first == epoch(1) and first[0::2] != first[1::2]
    batch = dataset.collater([dataset[i] for i in range(6)])
    assert batch["ntokens"] == sum(len(dataset[i]["target"]) for i in range(6))


@pytest.mark.parametrize("workers", [0, 1])
def test_each_epoch_draws_other_pieces_with_and_without_a_worker(workers, files):
    dataset = sampled_pairs(files["BPE-dropout"])
    batches = [[0, 1, 2], [3, 4, 5]]
    iterator = EpochBatchIterator(dataset, dataset.collater, batches, num_workers=workers, reuse_dataloader=True)
    read = [[batch["target"].tolist() for batch in iterator.next_epoch_itr(shuffle=False)] for _ in range(2)]
    assert read[0] != read[1]
    for epoch, found in enumerate(read, start=1):
        dataset.set_epoch(epoch)
        assert found == [dataset.collater([dataset[i] for i in batch])["target"].tolist() for batch in batches]


def test_a_file_that_is_neither_codes_nor_a_model_is_named(tmp_path):
    with pytest.raises(ValueError, match="--sample-subwords: there is no file nowhere"):
        load_sampler(Path("nowhere"), 0.1, dictionary())
    (tmp_path / "text").write_text("hello\n")
    with pytest.raises(ValueError, match="text holds neither subword-nmt's codes nor a SentencePiece model"):
        load_sampler(tmp_path / "text", 0.1, dictionary())


@pytest.mark.parametrize("codes", [b"#version: 0.2\na b\nc\n", b"#version: new\na b\n", b"#version: 0.2\n\xff b\n"])
def test_damaged_codes_are_named(codes, tmp_path):
    (tmp_path / "codes").write_bytes(codes)
    with pytest.raises(ValueError, match=r"--sample-subwords: .*codes is a damaged file of subword-nmt's codes"):
        load_sampler(tmp_path / "codes", 0.1, dictionary())
