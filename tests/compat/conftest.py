"""A toy corpus and a model of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli import toy

from .repairs import commands


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Binarized data of a hundred sentences: seven batches of sixty tokens."""
    folder = tmp_path_factory.mktemp("toy")
    toy.write_corpus(folder, train=100)
    commands.preprocess(folder, folder / "data")
    return folder / "data"


@pytest.fixture(scope="session")
def trained(data: Path) -> Path:
    """A checkpoint of a training of one epoch, which has ended."""
    commands.train(data, data.parent / "save", "--max-epoch", 1, "--save-interval", 1)
    return data.parent / "save" / "checkpoint_last.pt"


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], str]]:
    """What has been logged since the last call."""

    def read() -> str:
        text = caplog.text
        caplog.clear()
        return text

    with caplog.at_level(logging.INFO):
        yield read
