r"""Starts a page where one types a sentence and watches trained models translate it, side by side.

    recurrent-mt demo
    recurrent-mt demo runs/quickstart-fr-en
    recurrent-mt demo runs/quickstart-fr-en/systems/*/seed-1/checkpoints/checkpoint_best.pt imported/checkpoint.pt

Without CHECKPOINT, the models are those of all installed boxes. A run folder stands for the first seed of each of its
systems. Each language pair has a page of its own. Text goes in and comes out raw where a checkpoint is in a run folder,
which says how it is split and joined; elsewhere, the words are what has spaces between them. The page shows
translations with scores, alignments, the windows or pyramids of a grConv, what becomes of the sentence as it grows, and
how probable a translation of your own is. It is for this machine alone and asks nothing of the network, unless --host
or --share says otherwise. It needs Gradio.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ..arguments import positive
from ..text_files import read_sentences
from ..text_form import TextForm
from ..translation.box import read_box
from ..translation.loading import load_pairs

if TYPE_CHECKING:
    from ..demo.page import Demo

GRADIO = "gradio>=6,<7"
#: Sentences of the test set that one can pick.
EXAMPLES = 200


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models",
        nargs="*",
        type=Path,
        metavar="CHECKPOINT",
        help="checkpoint, run folder, or name of a box (all that are installed)",
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder with the dictionaries of checkpoints outside of run folders"
    )
    parser.add_argument("--port", type=positive, metavar="N", help="(the first free one from 7860 on)")
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="to listen at (%(default)s)")
    parser.add_argument(
        "--share", action="store_true", help="make a public link: what is typed goes through Gradio's servers"
    )


def run(options: argparse.Namespace) -> None:
    """Serves the page until it is interrupted."""
    if find_spec("gradio") is None:
        # Without PyTorch and fairseq, Gradio alone would not do.
        alone = f"pip install '{GRADIO}', or " if find_spec("fairseq") else ""
        message = f"the page needs Gradio, which is not installed: {alone}scripts/setup.sh --demo"
        raise ModuleNotFoundError(message, name="gradio")
    # One sentence's products are too small to share. Read when PyTorch is imported.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("LOGLEVEL", "WARNING")
    print("Loading the models …", flush=True)
    demos = make_demos(options.models, options.data)
    from ..demo.page import build_page, serve

    try:
        address = serve(build_page(demos), host=options.host, port=options.port, share=options.share)
    except (OSError, OverflowError) as error:
        message = f"the page cannot be at {options.host}: {error}; choose another --port or --host"
        raise OSError(message) from error
    print(f"{address} (Ctrl-C ends it)", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        print()


def make_demos(paths: Sequence[Path], data: Path | None) -> list[Demo]:
    """Loads all models of the page; those of a language pair are side by side.

    Raises:
        OSError: if a file cannot be read.
        ValueError: if a checkpoint cannot be used.
    """
    pairs = load_pairs(*paths, data=data)
    # Gradio takes seconds to load: what cannot be shown is refused before.
    from ..demo.page import Demo

    demos = []
    for languages, systems in pairs.items():
        forms = [system.form for system in systems if system.form]
        texts: dict[str, list[str]] = {}
        for system in systems:
            if system.form:
                folder = system.form.folder
                learned = read_box(folder).title or f"trained on the text of {folder}"
                texts.setdefault(learned, []).append(system.name)
        examples = read_examples(forms[0]) if forms else {}
        demos.append(Demo(systems, languages, examples, bool(forms) and forms[0].lowercase, texts))
    return demos


def read_examples(form: TextForm) -> dict[str, str]:
    """The first sentences of a run's test set with their references; none if the run has no test set."""
    files = [form.folder / "text" / "raw" / f"test.{language}" for language in (form.source, form.target)]
    if not all(file.is_file() for file in files):
        return {}

    def sentences(file: Path) -> Iterator[str]:
        return islice((" ".join(text.split()) for text in read_sentences(file)), EXAMPLES)

    return {source: target for source, target in zip(*map(sentences, files)) if source}
