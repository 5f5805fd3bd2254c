"""What takes seconds to build, built once for all workers of pytest: they divide the tests of a module."""

from __future__ import annotations

import fcntl
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")


def build_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], T]) -> T:
    """What ``build`` returned in the first worker that asked for this name; its folder is not for tests to change.

    Args:
        factory: of the worker's temporary folders, which are in one of the session.
        name: of the folder that ``build`` is given, new and empty.
        build: makes it; what it returns is pickled for the other workers.
    """
    session = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        session = session.parent
    folder, result = session / name, session / f"{name}.pickle"
    with (session / f"{name}.lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        if not result.exists():
            # What an attempt that failed has left.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            result.write_bytes(pickle.dumps(build(folder)))
        return pickle.loads(result.read_bytes())
