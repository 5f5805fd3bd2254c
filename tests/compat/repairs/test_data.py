"""Text, dictionaries, and binarized data: what belongs together, and what is named where it cannot be read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from fairseq.data import Dictionary, LanguagePairDataset, ListDataset
from fairseq.data.data_utils import raise_if_valid_subsets_unintentionally_ignored
from fairseq.tasks.translation import TranslationConfig, TranslationTask

from tests.cli import toy
from tests.commands import call

from .commands import LSTM, generate, preprocess, train


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("dog 3\ncat\n", r"dict\.en\.txt: Incorrect dictionary format, expected '<token> <cnt> \[flags\]': \"cat"),
        ("dog three\n", r"dict\.en\.txt: Incorrect dictionary format"),
        ("dog 3\ndog 2\n", r"dict\.en\.txt: Duplicate word found when loading Dictionary: 'dog'"),
        ("<unk> 3\n", r"dict\.en\.txt: Duplicate word found"),
        ("__import__('os').mkdir('x') y\n", r"dict\.en\.txt: Incorrect dictionary format"),
    ],
)
def test_a_broken_line_of_a_dictionary_and_its_file_are_named(tmp_path, content, message):
    path = tmp_path / "dict.en.txt"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        Dictionary.load(str(path))


def test_a_good_dictionary_is_read(tmp_path):
    path = tmp_path / "dict.en.txt"
    path.write_text("dog 3\ncat 2\n")
    assert Dictionary.load(str(path)).symbols[-2:] == ["dog", "cat"]


TEXT = ["<pad>", "<pad> w1", "w1 <pad> w2 <pad>"]


def test_a_text_has_no_padding():
    dictionary = Dictionary()
    dictionary.add_symbol("dog")
    encoded = dictionary.encode_line("<pad> dog <pad>", add_if_not_exist=False)
    assert encoded.tolist() == [dictionary.unk(), dictionary.index("dog"), dictionary.unk(), dictionary.eos()]
    # As fairseq's BART and RoBERTa write the ends of a sentence.
    ends = dictionary.encode_line("<s> dog </s>", append_eos=False, add_if_not_exist=False)
    assert ends.tolist() == [dictionary.bos(), dictionary.index("dog"), dictionary.eos()]
    grown = Dictionary()
    assert grown.encode_line("<pad> cat", line_tokenizer=str.split).tolist() == [grown.unk(), 4, grown.eos()]


def test_padding_in_text_stops_neither_fairseq_nor_the_tools(tmp_path):
    toy.write_corpus(tmp_path, train=20)
    for side, lines in (("src", TEXT), ("tgt", [line.replace("w", "W") for line in TEXT])):
        with (tmp_path / f"test.{side}").open("a") as file:
            file.writelines(f"{line}\n" for line in lines)
    preprocess(tmp_path, tmp_path / "data")
    train(tmp_path / "data", tmp_path / "save", "--max-update", 1, model=LSTM)
    model = tmp_path / "save" / "checkpoint_last.pt"
    generated = toy.lines(generate(tmp_path / "data", model, "--max-len-b", 9), "T")
    expected = ["<<unk>>", "<<unk>> W1", "W1 <<unk>> W2 <<unk>>"]
    assert [generated[20 + number] for number in range(3)] == expected
    files = [f"--{name}={tmp_path / file}" for name, file in (("source", "test.src"), ("target", "test.tgt"))]
    done = call("align", "--checkpoint", model, "--data", tmp_path / "data", *files, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "out" / "alignments.jsonl").read_text().splitlines()]
    assert records[21]["source"] == ["<pad>", "w1", "</s>"]
    assert [len(row) for row in records[21]["weights"]] == [3, 3, 3]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    toy.write_corpus(tmp_path, train=30)
    return tmp_path


def shorten(file: Path) -> None:
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))


@pytest.mark.parametrize(
    ("name", "counts"),
    [("train.tgt", (30, 29)), ("test.tgt", (20, 19)), ("train.align", (30, 29)), ("alignments", (30, 29))],
)
def test_fairseq_preprocess_names_the_files_and_their_lengths(name: str, counts: tuple[int, int], corpus: Path):
    for alignments in ("train.align", "alignments"):
        (corpus / alignments).write_text("0-0\n" * 30)
    shorten(corpus / name)
    first = corpus / f"{'test' if name.startswith('test') else 'train'}.src"
    message = f"{first} has {counts[0]} lines, and {corpus / name} has {counts[1]}: line n of one"
    with pytest.raises(ValueError, match=re.escape(message)):
        preprocess(corpus, corpus / "data", "--align-suffix", "align", "--alignfile", corpus / "alignments")


def test_a_file_without_a_line_is_named(corpus: Path):
    (corpus / "valid.src").write_text("")
    with pytest.raises(ValueError, match=f"{corpus / 'valid.src'} has no line"):
        preprocess(corpus, corpus / "data")


def test_text_of_one_side_may_have_any_length(corpus: Path):
    shorten(corpus / "train.tgt")
    preprocess(corpus, corpus / "data", "--only-source")
    preprocess(corpus, corpus / "dictionaries", "--dict-only")


def test_binarized_data_of_other_lengths_is_named_where_it_is_read(corpus: Path):
    preprocess(corpus, corpus / "data")
    for ending in ("bin", "idx"):
        (corpus / f"data/valid.src-tgt.tgt.{ending}").rename(corpus / f"data/train.src-tgt.tgt.{ending}")
    config = TranslationConfig(data=str(corpus / "data"), source_lang="src", target_lang="tgt", dataset_impl="mmap")
    with pytest.raises(ValueError, match=r"data/train\.src-tgt: 30 source sentences and 20 target sentences: line n"):
        TranslationTask.setup_task(config).load_dataset("train")


def test_pairs_have_two_sides_of_one_length():
    sentences = ListDataset([torch.tensor([4, 2])])
    with pytest.raises(ValueError, match="1 source sentences and 0 target sentences"):
        LanguagePairDataset(sentences, [2], Dictionary(), tgt=ListDataset([]), tgt_sizes=[])
    assert len(LanguagePairDataset(sentences, [2], Dictionary(), sentences, [2], Dictionary())) == 1


def check(folder: Path, subsets: str, files: str, **options: bool) -> None:
    for file in files.split():
        (folder / file).touch()
    known = ("ignore_unused_valid_subsets", "combine_valid_subsets", "disable_validation")
    dataset = SimpleNamespace(valid_subset=subsets, **{name: options.get(name, False) for name in known})
    config = SimpleNamespace(dataset=dataset, task=SimpleNamespace(data=str(folder)))
    raise_if_valid_subsets_unintentionally_ignored(config)


PAIRS = "valid.fr-en.fr.bin valid.fr-en.en.idx valid1.fr-en.fr.bin valid1.fr-en.en.idx"


@pytest.mark.parametrize(
    ("subsets", "files"),
    [
        ("valid,valid1", PAIRS),
        ("valid1,valid", PAIRS),
        ("valid", "valid.fr-en.fr.bin dict.fr.txt"),
        ("valid,valid1", "valid.bin valid.idx valid1.bin valid1.idx"),
        ("valid,valid1.big", "valid.fr-en.fr.bin valid1.big.fr-en.fr.bin"),
    ],
)
def test_sets_that_are_named_are_not_ignored(tmp_path: Path, subsets: str, files: str):
    check(tmp_path, subsets, files)


@pytest.mark.parametrize(
    ("subsets", "files", "ignored"),
    [
        ("valid", PAIRS, "valid1"),
        ("valid,valid1", f"{PAIRS} valid10.fr-en.fr.bin valid2.fr-en.fr.bin", "valid10, valid2"),
        ("valid", "valid.bin valid1.bin valid1.idx", "valid1"),
    ],
)
def test_others_are_named_with_what_helps(tmp_path: Path, subsets: str, files: str, ignored: str):
    message = (
        f"there is more to validate on than --valid-subset {subsets}: {ignored}. Name it there, too, or set "
        "--combine-valid-subsets to make one set of all, or --ignore-unused-valid-subsets"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check(tmp_path, subsets, files)


@pytest.mark.parametrize("option", ["ignore_unused_valid_subsets", "combine_valid_subsets", "disable_validation"])
def test_an_option_allows_them(tmp_path: Path, option: str):
    check(tmp_path, "valid", PAIRS, **{option: True})


@pytest.mark.parametrize(
    ("options", "validated"),
    [(("--valid-subset", "valid,valid1"), ["valid", "valid1"]), (("--combine-valid-subsets",), ["valid"])],
    ids=["named", "combined"],
)
def test_a_training_validates_on_both(options: tuple, validated: list[str], corpus: Path, logged):
    both = f"--validpref={corpus / 'valid'},{corpus / 'test'}"
    preprocess(corpus, corpus / "data", both, splits=("train", "test"))
    train(corpus / "data", corpus / "save", "--max-update", 1, *options)
    log = logged()
    assert [name for name in ("valid", "valid1") if f'begin validation on "{name}" subset' in log] == validated
