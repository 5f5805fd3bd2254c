"""What made a result: the commit of this code, and the versions of the libraries that compute its numbers."""

from __future__ import annotations

import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
DISTRIBUTION = "fairseq-recurrent-mt"
LIBRARIES = ("torch", "fairseq", "sacrebleu")


@cache
def describe_versions() -> str:
    """In one line, such as ``recurrent-mt 8996ab1, torch 2.13.0, fairseq 0.12.2, sacrebleu 2.6.0``.

    This code goes by its commit in a clone, with ``-dirty`` behind it where files have been changed since, and by the
    version of the package elsewhere. A library that is not installed is left out.
    """
    found = {"recurrent-mt": describe_commit(PROJECT) or find_version(DISTRIBUTION)}
    found |= {name: find_version(name) for name in LIBRARIES}
    return ", ".join(f"{name} {number}" for name, number in found.items() if number)


def describe_commit(folder: Path) -> str | None:
    """The commit of a clone; None if the folder is none, or git is missing or refuses to read it."""
    # The project may be installed in an environment within somebody else's clone, whose commit says nothing of it.
    if not (folder / ".git").exists():
        return None
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def find_version(distribution: str) -> str | None:
    """The version of what is installed; None if it is not."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
