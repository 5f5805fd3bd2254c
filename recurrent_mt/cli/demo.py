r"""Starts a page where one types a sentence and watches trained models translate it, side by side.

    recurrent-mt demo runs/quickstart-fr-en
    recurrent-mt demo runs/quickstart-fr-en/systems/*/seed-1/checkpoints/checkpoint_best.pt imported/checkpoint.pt

A run folder stands for the first seed of each of its systems. Text goes in and comes out raw where a checkpoint is in a
run folder, which says how it is split and joined; elsewhere, the words are what has spaces between them. The page shows
translations with scores, alignments, grConv's pyramids, what becomes of the sentence as it grows, and how probable a
translation of your own is. It is for this machine alone and asks nothing of the network, unless --host or --share says
otherwise. It needs Gradio.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ..demo.systems import DemoSystem
from ..evaluation.run_folder import seed_of
from ..fairseq_dictionary import dictionary_folder
from ..option_types import positive
from ..text_files import read_sentences
from ..text_form import TextForm, read_text_form
from .plugin import import_from_plugin

if TYPE_CHECKING:
    from ..demo.page import Demo

GRADIO = "gradio>=6,<7"
BEST = "checkpoints/checkpoint_best.pt"
#: Sentences of the test set that one can pick.
EXAMPLES = 200
#: Languages of a checkpoint that does not know them: those of the authors' imported models.
UNNAMED = ("src", "tgt")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", nargs="+", type=Path, metavar="CHECKPOINT", help="checkpoint or run folder")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder with the dictionaries of checkpoints outside of run folders"
    )
    parser.add_argument("--port", type=positive, metavar="N", help="(the first free one from 7860 on)")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="to listen at (%(default)s)")
    parser.add_argument(
        "--share", action="store_true", help="make a public link: what is typed goes through Gradio's servers"
    )


def run(options: argparse.Namespace) -> None:
    """Serves the page until it is interrupted.

    Raises:
        ModuleNotFoundError: without Gradio or fairseq.
        OSError: if a file cannot be read, or the port is taken.
        ValueError: if checkpoints cannot be used, or not together.
    """
    if find_spec("gradio") is None:
        message = f"the page needs Gradio, which is not installed: pip install '{GRADIO}', or scripts/setup.sh --demo"
        raise ModuleNotFoundError(message, name="gradio")
    # One sentence's products are too small to share. Read when PyTorch is imported.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("LOGLEVEL", "WARNING")
    demo = make_demo(options.models, options.data)
    from ..demo.page import build_page, serve

    address = serve(build_page(demo), host=options.host, port=options.port, share=options.share)
    print(f"{', '.join(system.name for system in demo.systems)}: {address} (Ctrl-C ends it)", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        print()


def make_demo(paths: Sequence[Path], data: Path | None) -> Demo:
    """Loads all models of the page.

    Raises:
        OSError: if a file cannot be read.
        ValueError: if checkpoints cannot be used, or not together.
    """
    from ..demo.page import Demo

    checkpoints = [checkpoint for path in paths for checkpoint in find_checkpoints(path)]
    loaded = [load_system(name, path, data) for name, path in zip(name_checkpoints(checkpoints), checkpoints)]
    systems = [system for system, _ in loaded]
    forms = [form for _, form in loaded if form]
    pairs = {system.translator.languages: system.name for system in systems}
    named = [pair for pair in pairs if pair != UNNAMED]
    if len(named) > 1:
        found = ", ".join(f"{name} translates {'-'.join(pair)}" for pair, name in pairs.items())
        raise ValueError(f"the models of a page must have one language pair, but {found}")
    examples = read_examples(forms[0]) if forms else {}
    lowercase = bool(forms) and forms[0].lowercase
    return Demo(systems, named[0] if named else UNNAMED, examples, lowercase)


def find_checkpoints(path: Path) -> list[Path]:
    """A checkpoint, or those of a run folder: of each system its first seed.

    Raises:
        FileNotFoundError: if there is no such file, or no trained system in the folder.
    """
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise FileNotFoundError(f"there is no checkpoint or run folder {path}")
    files = path.glob(f"systems/*/seed-*/{BEST}")
    found = {file.parts[-4]: file for file in sorted(files, key=lambda file: seed_of(file.parent), reverse=True)}
    if not found:
        raise FileNotFoundError(f"{path} is no run folder with trained systems: there is no systems/*/seed-*/{BEST}")
    return [found[name] for name in sorted(found)]


def name_checkpoints(paths: Sequence[Path]) -> list[str]:
    """The shortest names that tell checkpoints apart: the system, with its seed, or the whole path."""
    candidates = []
    for path in paths:
        parts = path.absolute().parts
        if path.match(f"systems/*/seed-*/{BEST}"):
            candidates.append((parts[-4], f"{parts[-4]}, {parts[-3].replace('-', ' ')}", str(path)))
        else:
            candidates.append((parts[-2], f"{parts[-2]}/{parts[-1]}", str(path)))
    for names in zip(*candidates):
        if max(Counter(names).values()) == 1:
            return list(names)
    raise ValueError(f"{Counter(map(str, paths)).most_common(1)[0][0]} is given twice")


def load_system(name: str, path: Path, data: Path | None) -> tuple[DemoSystem, TextForm | None]:
    """A model, and the text settings of its run folder if it is in one.

    Raises:
        OSError: if a file cannot be read.
        ValueError: if the checkpoint or its dictionaries cannot be used.
    """
    folder = find_run([path, data] if data else [path])
    form = read_text_form(folder) if folder else None
    dictionaries = data or find_dictionaries(path, folder)
    translator = import_from_plugin("inspection").Translator(path, dictionaries)
    source, target = translator.languages
    used = form or TextForm(path.parent, source, target, "word", "none", lowercase=False, truecased=False)
    if (used.source, used.target) != (source, target):
        raise ValueError(f"{path} translates {source}-{target}, but {used.folder} is {used.source}-{used.target}")
    system = DemoSystem(
        name,
        translator,
        used.scheme,
        lambda text: used.read(text, source),
        lambda text: used.read(text, target),
        used.join,
    )
    return system, form


def find_run(paths: Sequence[Path]) -> Path | None:
    """The nearest folder above one of the paths in which a recipe has left its options."""
    above = (folder for path in paths for folder in path.absolute().parents)
    return next((folder for folder in above if (folder / "options").is_file()), None)


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


def read_examples(form: TextForm) -> dict[str, str]:
    """The first sentences of a run's test set with their references; none if the run has no test set."""
    files = [form.folder / "text" / "raw" / f"test.{language}" for language in (form.source, form.target)]
    if not all(file.is_file() for file in files):
        return {}

    def sentences(file: Path) -> Iterator[str]:
        return islice((" ".join(text.split()) for text in read_sentences(file)), EXAMPLES)

    return {source: target for source, target in zip(*map(sentences, files)) if source}
