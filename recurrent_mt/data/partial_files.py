"""Files that appear together, when all of them are whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


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


def publish_corpus(
    sides: Mapping[str, Path], out: Path, report: Path, *, markdown: str, numbers: Mapping[str, Any]
) -> None:
    """Makes a prepared corpus appear: both sides, then the report, then its numbers, which tell that all are there.

    Older files of those names go first, all of them: sides of two runs are never found together, whenever this
    is stopped. If a renaming fails, those done are undone.

    Args:
        sides: the file written aside for each language.
        out: the prefix of ``OUT.LANGUAGE``.
        report: the file of the report; the numbers go to the file of that name that ends with .json.
        markdown: the report to read.
        numbers: the same as data.
    """
    files = {written: Path(f"{out}.{language}") for language, written in sides.items()}
    as_json = json.dumps(numbers, indent=2, ensure_ascii=False) + "\n"
    for final, text in {report: markdown, report.with_suffix(".json"): as_json}.items():
        partial = final.with_name(f"{final.name}.partial")
        partial.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8", newline="\n")
        files[partial] = final
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


def refuse_overwriting(inputs: Iterable[Path], out: Path, languages: Iterable[str], report: Path) -> None:
    """Refuses names of results that would overwrite an input, or each other.

    Raises:
        ValueError: naming the file.
    """
    if report.suffix == ".json":
        raise ValueError(f"{report}: the report's name must not end with .json, which is that of the numbers")
    made = {Path(f"{out}.{language}").resolve() for language in languages}
    for path in inputs:
        if path.resolve() in made:
            raise ValueError(f"{path} would be overwritten: choose another --out")
