"""Text, dictionaries, and binarized data: what belongs together, and what is named where it cannot be read."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from fairseq.data import Dictionary
from fairseq.data.data_utils import raise_if_valid_subsets_unintentionally_ignored

from tests.cli import toy

from .commands import preprocess


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


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    toy.write_corpus(tmp_path, train=30)
    return tmp_path


@pytest.mark.parametrize(("name", "counts"), [("train", (30, 29)), ("test", (20, 19))])
def test_fairseq_preprocess_names_the_files_and_their_lengths(name: str, counts: tuple[int, int], corpus: Path):
    first, second = (corpus / f"{name}.{language}" for language in ("src", "tgt"))
    second.write_text("".join(second.read_text().splitlines(keepends=True)[:-1]))
    message = f"{first} has {counts[0]} lines, and {second} has {counts[1]}: line n of one"
    with pytest.raises(ValueError, match=re.escape(message)):
        preprocess(corpus, corpus / "data")
    preprocess(corpus, corpus / "data", "--only-source")
    preprocess(corpus, corpus / "dictionaries", "--dict-only")


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
        ("valid", "valid.fr-en.fr.bin dict.fr.txt"),
        ("valid,valid1.big", "valid.fr-en.fr.bin valid1.big.fr-en.fr.bin"),
    ],
)
def test_sets_that_are_named_are_not_ignored(tmp_path: Path, subsets: str, files: str):
    check(tmp_path, subsets, files)


@pytest.mark.parametrize(
    ("subsets", "files", "ignored"),
    [
        ("valid", "valid.bin valid1.bin valid1.idx", "valid1"),
        ("valid,valid1", f"{PAIRS} valid10.fr-en.fr.bin valid2.fr-en.fr.bin", "valid10, valid2"),
    ],
)
def test_others_are_named_with_what_helps(tmp_path: Path, subsets: str, files: str, ignored: str):
    message = (
        f"^--valid-subset {subsets} leaves out {ignored}: .* --combine-valid-subsets .* or --ignore-unused-valid-s"
    )
    with pytest.raises(ValueError, match=message):
        check(tmp_path, subsets, files)
    for option in ("ignore_unused_valid_subsets", "combine_valid_subsets", "disable_validation"):
        check(tmp_path, subsets, "", **{option: True})
