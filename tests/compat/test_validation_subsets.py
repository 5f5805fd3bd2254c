"""Validation sets that --valid-subset names are used, and others are not left out without a word."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from fairseq.data.data_utils import raise_if_valid_subsets_unintentionally_ignored

from tests.cli import toy


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
def test_a_training_validates_on_both(tmp_path: Path, options: tuple[str, ...], validated: list[str]):
    toy.write_corpus(tmp_path, train=100)
    pairs = [f"--{split}pref={tmp_path / split}" for split in ("train", "test")]
    both = f"--validpref={tmp_path / 'valid'},{tmp_path / 'test'}"
    toy.run("fairseq-preprocess", "-s", "src", "-t", "tgt", *pairs, both, "--destdir", tmp_path / "data")
    done = toy.train(tmp_path / "data", tmp_path / "save", "--arch", "gru_encoder", "--max-update", 1, *options)
    log = done.stdout + done.stderr
    found = [subset for subset in ("valid", "valid1") if f'begin validation on "{subset}" subset' in log]
    assert found == validated
