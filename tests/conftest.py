"""What holds for all tests."""

import gc
import logging
import os
import sys
from typing import Any

import pytest

from recurrent_mt.runs.processes import has_gpu
from tests import commands


def pytest_configure(config: pytest.Config) -> None:
    """pytest-xdist's workers share the server of warm commands that their controller starts, and what it sets here."""
    if not hasattr(config, "workerinput"):
        config.add_cleanup(commands.start_server())
        # Hypothesis would load trio, which Selenium needs, in every worker.
        os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"
    gc.disable()


def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    """All tests need what the server of warm commands imports: their workers are forks of it.

    Not where there is a GPU, which PyTorch lets no fork use after it has counted them.
    """
    if config.args_source == config.ArgsSource.TESTPATHS and not has_gpu():
        for spec in specs:
            spec.python = commands.interpreter()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that need a browser come first, then those that need Gradio, which takes seconds to import, or reports.

    One of pytest-xdist's workers gets them all, starts one browser, and draws the charts of each report once.
    """
    items.sort(
        key=lambda item: (
            "chromium" not in getattr(item, "fixturenames", ()),
            *(item.path.parent.name != folder for folder in ("demo", "report")),
        )
    )


def pytest_collection_finish() -> None:
    """What all tests of a worker have to wait for takes less time."""
    commands.spare_hydra()
    # pytest adds a handler to each logger that passes nothing on, before each test and after: PyTorch has dozens.
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith("torch.") and isinstance(logger, logging.Logger):
            logger.propagate = True
    # Where there is no such device, PyTorch would keep each seed for it, and with it how it was called.
    if torch := sys.modules.get("torch"):
        for device in (torch.cuda, torch.xpu, torch.mtia):
            if not device.is_available():
                device.manual_seed_all = lambda seed: None
    # The garbage collector leaves alone what was imported and collected: it would look at it again and again.
    gc.freeze()
    gc.enable()
