"""Translates with a model that recurrent-mt export has written, without fairseq and PyTorch.

    echo "Le Parlement a adopté la résolution." | recurrent-mt translate-onnx
    recurrent-mt translate-onnx FOLDER <test.fr >test.en

Reads one sentence per line, and writes its best translation. Without FOLDER, the model is that of the installed box.
Text is as people write it where FOLDER is in a box or a run folder, and with --run, the run folder (or box) whose text
the model was trained on. Otherwise, it has to be split into the words or subwords that the model was trained on, and
comes out split in the same way. The search is fairseq-generate's. Needs the package onnxruntime.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ..arguments import natural, positive
from ..characters import is_subword
from ..text_files import (
    FileError,
    check_output_files,
    dictionary_folder,
    read_dictionary,
    read_sentences,
    read_standard_input,
    write_text,
)
from ..text_form import Lines, TextForm, read_text_form
from ..translation.box import find_export, find_folder, find_run

if TYPE_CHECKING:
    from ..onnx_translation import OnnxModel

LOG = logging.getLogger(__name__)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", nargs="?", type=Path, help="folder written by recurrent-mt export (default: the installed box's)"
    )
    parser.add_argument("--run", metavar="RUN", help="run folder, or name of a box, that says how raw text is split")
    parser.add_argument("--input", type=Path, help="text file to translate (default: standard input)")
    parser.add_argument("--out", type=Path, help="text file to write (default: standard output)")
    parser.add_argument("--beam", type=positive, default=5, help="hypotheses per sentence (default: 5)")
    parser.add_argument("--lenpen", type=float, default=1.0, help="length penalty, as in fairseq-generate (default: 1)")
    parser.add_argument(
        "--max-words",
        type=positive,
        help="longest translation (default: twice as many words as the longest source of its batch, and ten)",
    )
    parser.add_argument("--batch", type=positive, default=32, help="sentences translated at a time (default: 32)")
    parser.add_argument("--threads", type=natural, default=0, help="processor threads (default: as many as cores)")


def run(options: argparse.Namespace) -> None:
    """Writes the translations."""
    from ..onnx_translation import OnnxModel, translate

    place = find_run([options.model]) if options.model and not options.run else find_folder(options.run)
    form = read_text_form(place) if place else None
    folder = Path(options.model or find_export(place or Path()))
    if options.out:
        read = [
            folder / "manifest.json",
            *folder.glob("*.onnx"),
            *([place / "options", form.model] if place and form else []),
        ]
        check_output_files([*read, *filter(None, [options.input])], [options.out])
    model = OnnxModel(folder, threads=options.threads)
    if form:
        check_words(model, form, folder)
    raw = read_sentences(options.input) if options.input else list(read_standard_input())
    lines = Lines(form, raw) if form else None
    if lines is None:
        warn_of_raw_text(model, raw)
    found = translate(
        model,
        lines.sentences if lines else raw,
        batch=options.batch,
        places=lines.numbers if lines else None,
        beam=options.beam,
        length_penalty=options.lenpen,
        max_words=options.max_words,
    )
    translations = [hypotheses[0].text(model) for hypotheses in found]
    if form and lines:
        text = lines.fill(form.write(tokens.split()) for tokens in translations)
    else:
        text = "".join(f"{tokens}\n" for tokens in translations)
    if options.out:
        write_text(options.out, text)
    else:
        sys.stdout.write(text)


def check_words(model: OnnxModel, form: TextForm, folder: Path) -> None:
    """Raises FileError if a model was trained with other words than those of a run folder or box."""
    data = dictionary_folder(form.folder / "data")
    for language, known in ((form.source, model.source_words), (form.target, model.target_words)):
        file = data / f"dict.{language}.txt"
        if not read_dictionary(file).keys() <= set(known):
            raise FileError(file, f"{folder} has other words: it was exported from a model of another run")


def warn_of_raw_text(model: OnnxModel, lines: Iterable[str]) -> None:
    """Logs a word that is new to a model of subwords, as many of raw text are; what has been split seldom is."""
    words = chain.from_iterable(map(str.split, lines))
    new = next((word for word in words if word not in model.source_words), None)
    if new and any(map(is_subword, model.source_words)):
        LOG.warning("%s is new to the model, which reads subwords: for raw text, name its run folder with --run", new)
