"""Files that do not belong together: which, and how many lines each has."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from fairseq.data import Dictionary, LanguagePairDataset, ListDataset
from fairseq.tasks.translation import TranslationConfig, TranslationTask

from tests.cli import toy


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    toy.write_corpus(tmp_path, train=30)
    return tmp_path


def shorten(file: Path) -> None:
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))


def preprocess(corpus: Path, *options: object):
    prefixes = [f"--trainpref={corpus / 'train'}", f"--validpref={corpus / 'valid'},{corpus / 'test'}"]
    return toy.run(
        "fairseq-preprocess", "-s", "src", "-t", "tgt", *prefixes, "--destdir", corpus / "data", *options, check=False
    )


@pytest.mark.parametrize(
    ("name", "counts"),
    [("train.tgt", (30, 29)), ("test.tgt", (20, 19)), ("train.align", (30, 29)), ("alignments", (30, 29))],
)
def test_fairseq_preprocess_names_the_files_and_their_lengths(name: str, counts: tuple[int, int], corpus: Path):
    for alignments in ("train.align", "alignments"):
        (corpus / alignments).write_text("0-0\n" * 30)
    shorten(corpus / name)
    done = preprocess(corpus, "--align-suffix", "align", "--alignfile", corpus / "alignments")
    assert done.returncode == 1
    first = corpus / f"{'test' if name.startswith('test') else 'train'}.src"
    assert f"{first} has {counts[0]} lines, and {corpus / name} has {counts[1]}: line n of one" in done.stderr
    assert not (corpus / "data").exists()


def test_text_of_one_side_may_have_any_length(corpus: Path):
    shorten(corpus / "train.tgt")
    assert preprocess(corpus, "--only-source").returncode == 0
    assert preprocess(corpus, "--dict-only", "--destdir", corpus / "dictionaries").returncode == 0


def test_binarized_data_of_other_lengths_is_named_where_it_is_read(corpus: Path):
    assert preprocess(corpus).returncode == 0
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
