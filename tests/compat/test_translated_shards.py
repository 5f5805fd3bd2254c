"""fairseq-generate --num-shards N --shard-id I translates a part of the text, and the parts are the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import toy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy.trained(tmp_path_factory)


def translations(folder: Path, *options: object) -> dict[int, str]:
    path = folder / "save" / "checkpoint_last.pt"
    done = toy.generate(folder / "data", path, "--batch-size", 3, "--required-batch-size-multiple", 1, *options)
    return toy.lines(done.stdout, "H")


def test_shards_are_parts_of_the_whole(folder: Path):
    whole = translations(folder)
    assert len(whole) == 20
    parts = [translations(folder, "--num-shards", 3, "--shard-id", shard) for shard in range(3)]
    # Seven batches, the last of two sentences: three, two, and two of them.
    assert sorted(map(len, parts)) == [6, 6, 8]
    joined = {number: line for part in parts for number, line in part.items()}
    assert joined == whole


def test_shards_have_files_of_their_own(folder: Path, tmp_path: Path):
    for shard in range(2):
        translations(folder, "--num-shards", 2, "--shard-id", shard, "--results-path", tmp_path)
    files = [tmp_path / f"shard{shard}" / "generate-test.txt" for shard in range(2)]
    assert sorted(number for file in files for number in toy.lines(file.read_text(), "H")) == list(range(20))
    translations(folder, "--results-path", tmp_path)
    assert len(toy.lines((tmp_path / "generate-test.txt").read_text(), "H")) == 20


def test_a_shard_that_does_not_exist_is_refused(folder: Path):
    path = folder / "save" / "checkpoint_last.pt"
    done = toy.generate(folder / "data", path, "--num-shards", 2, "--shard-id", 2, check=False)
    assert done.returncode != 0
    assert "shard_id must be between 0 and num_shards" in done.stderr


def test_a_shard_without_sentences_is_named(folder: Path):
    path = folder / "save" / "checkpoint_last.pt"
    done = toy.generate(folder / "data", path, "--batch-size", 8, "--num-shards", 5, "--shard-id", 4, check=False)
    assert done.returncode != 0
    message = "there is nothing to translate for shard 4 (--shard-id) of 5 (--num-shards): the text has fewer batches"
    assert message in done.stderr
