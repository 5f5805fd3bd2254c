"""Data in several parts are joined, each part once, unless --upsample-primary says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairseq.data import Dictionary
from fairseq.tasks.translation import load_langpair_dataset

LIMITS = {"left_pad_source": True, "left_pad_target": False, "max_source_positions": 9, "max_target_positions": 9}


@pytest.mark.parametrize(("option", "size"), [(-1, 5), (1, 5), (3, 11)])
def test_the_first_part_is_taken_as_often_as_asked_for(tmp_path: Path, option: int, size: int):
    for split, sentences in (("train", "a\nb\nc\n"), ("train1", "d\ne\n")):
        for language in ("src", "tgt"):
            (tmp_path / f"{split}.src-tgt.{language}").write_text(sentences)
    dictionary = Dictionary()
    parts = {"combine": True, "dataset_impl": "raw", "upsample_primary": option}
    found = load_langpair_dataset(tmp_path, "train", "src", dictionary, "tgt", dictionary, **parts, **LIMITS)
    assert len(found) == len(found.src_sizes) == size
