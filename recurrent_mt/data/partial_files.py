"""Files that appear together, when all of them are whole."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def partial_folder(prefix: Path) -> Iterator[Path]:
    """A folder ``PREFIX.partial`` to write in, empty at first and removed at the end.

    What a killed run left there is removed at the start.
    """
    folder = Path(f"{prefix}.partial")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(files: Mapping[Path, Path]) -> None:
    """Renames whole files to where they belong, in the order given.

    Older files of those names go first, all of them: sides of two runs never stand together, whenever this is
    stopped. If a renaming fails, those done are undone.

    Args:
        files: where each file belongs, by where it was written. One that comes last can tell that all are there.
    """
    for final in files.values():
        final.unlink(missing_ok=True)
    done: list[Path] = []
    try:
        for written, final in files.items():
            final.parent.mkdir(parents=True, exist_ok=True)
            written.rename(final)
            done.append(final)
    except OSError:
        for final in done:
            final.unlink(missing_ok=True)
        raise
