"""Finds trained models, and loads them with the text settings that belong to them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from ..plugin_finder import import_from_plugin
from ..runs.folder import PARAMETERS, find_systems, names_of
from ..text_files import dictionary_folder
from ..text_form import TextForm, read_text_form
from .box import find_boxes, find_folder, find_run, read_box
from .model import Model

#: Languages of a checkpoint that does not know them: those of the authors' imported models.
UNNAMED = ("src", "tgt")


def load_model(place: str | Path | None = None, system: str | None = None, *, data: str | Path | None = None) -> Model:
    """Loads one model.

    Args:
        place: a checkpoint, a run folder, or the name of an installed box; None: fr-en, or the only box.
        system: of a run folder or a box; may be left out where there is only one, and of a box.
        data: the folder with the dictionaries of a checkpoint that has none beside it and is in no run folder.

    Raises:
        ModuleNotFoundError: without fairseq.
        OSError: if a file cannot be read, or is not there.
        ValueError: if a checkpoint cannot be used, or if it is not clear which.
    """
    name, path = find_checkpoint(find_folder(place), system)
    return load_checkpoint(name, path, data)


def find_checkpoint(folder: Path, system: str | None = None) -> tuple[str, Path]:
    """The name and the checkpoint of a system of a run folder or box: the default or the only one, if none is named.

    Raises:
        FileNotFoundError: if there is no trained system in the folder.
        ValueError: if there is none of that name, or several and no name.
    """
    checkpoints = find_checkpoints(folder)
    named = dict(zip(name_checkpoints(checkpoints), checkpoints))
    if system is None:
        system = read_box(folder).default or (next(iter(named)) if len(named) == 1 else None)
    if system not in named:
        asked = "name a system" if system is None else f"there is no system {system}"
        raise ValueError(f"{asked} of {folder}: it has {', '.join(named)}")
    return system, named[system]


def load_models(*places: str | Path, data: str | Path | None = None) -> dict[str, Model]:
    """Loads all models of the places by name, the default of a box first; arguments and errors as of `load_model`."""
    checkpoints = [checkpoint for place in places or [None] for checkpoint in find_checkpoints(find_folder(place))]
    return {name: load_checkpoint(name, path, data) for name, path in zip(name_checkpoints(checkpoints), checkpoints)}


def load_pairs(*places: Path, data: Path | None = None) -> dict[tuple[str, str], list[Model]]:
    """Loads all models of the places, or of all installed boxes, by language pair; names are unlike within a pair.

    Where there is one pair, models that do not know their languages have that, too. Arguments and errors as of
    `load_model`.
    """
    folders = list(map(find_folder, places)) if places else list(find_boxes().values())
    checkpoints = [checkpoint for folder in folders for checkpoint in find_checkpoints(folder)]
    models = [load_checkpoint(path.name, path, data) for path in checkpoints]
    named = {model.languages for model in models} - {UNNAMED}
    pairs: dict[tuple[str, str], list[tuple[Path, Model]]] = {}
    for path, model in zip(checkpoints, models):
        pairs.setdefault(next(iter(named)) if len(named) == 1 else model.languages, []).append((path, model))
    return {
        languages: [
            replace(model, name=name) for name, (_, model) in zip(name_checkpoints([path for path, _ in found]), found)
        ]
        for languages, found in pairs.items()
    }


def find_checkpoints(path: Path) -> list[Path]:
    """A checkpoint, or those of a run folder: of each system its first seed, sorted by name, a box's default first.

    Raises:
        FileNotFoundError: if there is no trained system in the folder.
        FileError: if the folder is a damaged box, or has one of a training that is not named seed-N.
    """
    if path.is_file():
        return [path]
    found = find_systems(path)
    if not found:
        raise FileNotFoundError(
            f"{path} is no run folder with trained systems: there is no {PARAMETERS.format('*', '*')}"
        )
    default = read_box(path).default
    return [found[name] for name in sorted(found, key=lambda name: (name != default, name))]


def name_checkpoints(paths: Sequence[Path]) -> list[str]:
    """The shortest names that tell checkpoints apart: the system, with its seed, with its run or box, or the path."""
    candidates = []
    for path in paths:
        parts = path.absolute().parts
        beside = "/".join(parts[-2:])
        system = names_of(path)
        # RUN/systems/SYSTEM/seed-N/checkpoints/FILE
        found = [*system, f"{parts[-6]}/{system[0]}"] if system else [parts[-2], beside, beside]
        candidates.append((*found, str(path)))
    for names in zip(*candidates):
        if max(Counter(names).values()) == 1:
            return list(names)
    raise ValueError(f"{Counter(map(str, paths)).most_common(1)[0][0]} is given twice")


def load_checkpoint(name: str, path: str | Path, data: str | Path | None = None) -> Model:
    """A model under a name, with the text settings of its run folder if it is in one.

    Raises:
        OSError: if a file cannot be read.
        ValueError: if the checkpoint or its dictionaries cannot be used.
    """
    path, data = Path(path), Path(data) if data else None
    folder = find_run([path, data] if data else [path])
    form = read_text_form(folder) if folder else None
    dictionaries = data or find_dictionaries(path, folder)
    # fairseq says a line about every dictionary that it reads, and lets the root logger show what all libraries say.
    with silence():
        translator = import_from_plugin("translator", "checkpoints").Translator(path, dictionaries)
    source, target = translator.languages
    used = form or TextForm(path.parent, source, target, "word", "none", lowercase=False, truecased=False)
    if (used.source, used.target) != (source, target):
        raise ValueError(f"{path} translates {source}-{target}, but {used.folder} is {used.source}-{used.target}")
    summaries = read_box(folder).summaries if folder else {}
    return Model(name, translator, used, form, next((summaries[key] for key in names_of(path) if key in summaries), ""))


@contextmanager
def silence() -> Iterator[None]:
    """Drops what is logged that is no warning.

    What a library that is imported meanwhile does to the root logger, which is the program's own, is undone.
    """
    root = logging.getLogger()
    disabled, level, handlers = root.manager.disable, root.level, root.handlers[:]
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(disabled)
        root.setLevel(level)
        root.handlers[:] = handlers


def find_dictionaries(path: Path, run: Path | None) -> Path:
    """The folder with a checkpoint's dictionaries: of its run, or beside it.

    Raises:
        ValueError: if there is none.
    """
    places = [*([dictionary_folder(run / "data")] if run else []), path.parent]
    for place in places:
        if len(list(islice(place.glob("dict.*.txt"), 2))) == 2:
            return place
    searched = " or ".join(map(str, places))
    raise ValueError(f"{path} has no dictionaries: dict.LANG.txt is not in {searched}; name their folder with --data")
