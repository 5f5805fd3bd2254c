"""What holds for all tests."""

import gc
import logging
import os

import pytest

from tests import commands


def pytest_configure(config: pytest.Config) -> None:
    """pytest-xdist's workers share the server of warm commands that their controller starts, and what it sets here."""
    if not hasattr(config, "workerinput"):
        config.add_cleanup(commands.start_server())
        # Hypothesis would load trio, which Selenium needs, in every worker.
        os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that need a browser come first: one of pytest-xdist's workers gets them all, and starts one browser."""
    items.sort(key=lambda item: "chromium" not in getattr(item, "fixturenames", ()))


def pytest_collection_finish() -> None:
    """What all tests of a worker have to wait for takes less time."""
    commands.spare_hydra()
    # pytest adds a handler to each logger that passes nothing on, before each test and after: PyTorch has dozens.
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith("torch.") and isinstance(logger, logging.Logger):
            logger.propagate = True
    # The garbage collector leaves alone what was imported and collected: it would look at it again and again.
    gc.freeze()
    gc.enable()
