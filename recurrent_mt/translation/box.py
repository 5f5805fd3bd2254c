"""Models in a box: trained ones that are installed as a Python distribution and need nothing else to translate.

A box is a run folder without its training text: ``options``, the dictionaries in ``data``, what splits words and some
sentences to try in ``text``, and ``systems/NAME/seed-1/checkpoints/checkpoint_best.pt``. Besides, ``box.json`` names
the system that translates unless another is asked for, and says what the models are; ``onnx`` may have one as
``recurrent-mt export`` writes it. Its distribution has an entry point in the group `GROUP`: the box's name, and the
package that is its folder. No code of that package is run.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..text_files import OVERWRITE, read_layout, read_lines, write_text
from ..text_form import RECORDED, TextForm, read_text_form

GROUP = "recurrent_mt.boxes"
MANIFEST = "box.json"
#: The layout of a box; another is refused.
FORMAT = "recurrent-mt-box-1"
#: The folder in a box that has one of its models as ONNX.
ONNX = "onnx"
#: What the name of a box or a system looks like.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+-]*")
#: The box that is meant where several are installed, and none is named.
FIRST = "fr-en"
MISSING = (
    "no models in a box are installed: pip install ./pretrained/fr-en in a clone of this project, as scripts/setup.sh "
    "does, or name a checkpoint or a run folder"
)


class Manifest(NamedTuple):
    """What a box says of itself to those who use it; what is no box says nothing."""

    default: str | None = None  # the name of the system that translates unless another is asked for
    title: str = ""  # what the models translate, and what they have learned from, in one line
    summaries: Mapping[str, str] = {}  # what each system is, in a sentence


def list_boxes() -> dict[str, Path]:
    """The folders of the installed boxes by name, sorted."""
    found: dict[str, Path] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        # A module inside of a package would have Python run that package.
        spec = None if "." in point.value else find_spec(point.value)
        for place in map(Path, (spec and spec.submodule_search_locations) or []):
            if (place / MANIFEST).is_file():
                found[point.name] = place
    return found


def find_boxes() -> dict[str, Path]:
    """As `list_boxes`, of an environment that has some.

    Raises:
        FileNotFoundError: if there is none; says how to install one.
    """
    boxes = list_boxes()
    if not boxes:
        raise FileNotFoundError(MISSING)
    return boxes


def find_folder(place: str | Path | None) -> Path:
    """A checkpoint or run folder, or the folder of the installed box of that name; for None, `FIRST` or the only one.

    Raises:
        FileNotFoundError: if there is nothing of that name; names the boxes that there are.
        ValueError: if it is not clear which box is meant.
    """
    if place is None:
        boxes = find_boxes()
        if len(boxes) > 1 and FIRST not in boxes:
            raise ValueError(f"several boxes are installed: name one of {', '.join(boxes)}")
        return boxes.get(FIRST) or next(iter(boxes.values()))
    path = Path(place)
    if path.is_file() or (path / "options").is_file():
        return path
    # A box is installed from a folder of its name, which is neither a run folder nor the box.
    boxes = list_boxes()
    if str(place) in boxes:
        return boxes[str(place)]
    if not path.exists():
        installed = f"the installed boxes: {', '.join(boxes)}" if boxes else "no box is installed"
        raise FileNotFoundError(f"there is no checkpoint, run folder, or installed box {place}: {installed}")
    return path


def find_run(paths: Sequence[Path]) -> Path | None:
    """The nearest folder above one of the paths in which a recipe has left its options; last, above what it links to.

    In a run folder itself, checkpoints are links to trainings, whose text it alone knows.
    """
    above = (folder for place in (Path.absolute, Path.resolve) for path in paths for folder in place(path).parents)
    return next((folder for folder in above if (folder / "options").is_file()), None)


def read_box(folder: Path) -> Manifest:
    """What a box says of itself; nothing if the folder is no box.

    Raises:
        FileError: if the box is of another version, or damaged.
    """
    file = folder / MANIFEST
    found = read_layout(file, FORMAT, what="a box", remedy="pack the box again") if file.is_file() else {}
    return Manifest(**{name: found[name] for name in Manifest._fields if name in found})


def copy_text_form(run: Path, data: Path, folder: Path) -> TextForm:
    """Copies what a run's text is split and joined by: options, dictionaries, and what splits words into pieces.

    Raises:
        OSError: if a file is missing or cannot be written.
        FileError: if the options are damaged.
    """
    form = read_text_form(run)
    kept = [text for _, text in read_lines(run / "options") if text.partition(" ")[0] in RECORDED]
    write_text(folder / "options", "".join(f"{line}\n" for line in kept))
    files = [(data / name, Path("data", name)) for name in (f"dict.{form.source}.txt", f"dict.{form.target}.txt")]
    if form.segmentation != "word":
        files.append((form.model, form.model.relative_to(run)))
    for source, target in files:
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / target)
    text = run / "text" / "prepared" / f"train.{form.source}"
    if text.is_file():
        count_pieces(folder / "data" / f"dict.{form.source}.txt", text)
    return replace(form, folder=folder)


def count_pieces(dictionary: Path, text: Path) -> None:
    """Makes a dictionary say how often a text has each piece; the order, by which a model knows them, stays.

    A dictionary that both languages share counts those of both; what is read in the wrong one is found by these counts.
    """
    counts = Counter(piece for _, line in read_lines(text) for piece in line.split())
    entries = []
    for _, line in read_lines(dictionary):
        entry = line.removesuffix(OVERWRITE)
        piece = entry.rpartition(" ")[0]
        entries.append(f"{piece} {counts[piece]}{line[len(entry) :]}\n")
    write_text(dictionary, "".join(entries))


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Makes a folder a box; the last step of whoever fills it."""
    values = {"format": FORMAT, **manifest._asdict()}
    write_text(folder / MANIFEST, json.dumps(values, indent=2, ensure_ascii=False) + "\n")
