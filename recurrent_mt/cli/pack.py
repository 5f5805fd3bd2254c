r"""Packs trained models into a box: a Python distribution with all that it takes to translate, and no training data.

    recurrent-mt pack pretrained/fr-en.yaml --run RUN --out pretrained/fr-en gru=gru/checkpoint_best.pt \
        grconv=grconv/checkpoint_best.pt --test newstest2013=newstest2013.fr,newstest2013.en
    pip install pretrained/fr-en

The file describes the box: a name, and for people the data with their terms, limits, and how each system was trained
(pretrained/README.md explains it). RUN is the run folder whose text the models were trained on. Parameters are stored
in 16 bits. The first system of the file is the one that translates unless another is asked for; it is also stored as
ONNX in eight bits, or, in its place, the one that the file calls onnx, which is stored so alone. Each model as packed
translates the test sets, for the scores on its card. A box can be used without being installed, too: the folder of its
package is a run folder.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..arguments import split_named
from ..data.parallel_text import partial_folder, replace_entries
from ..metrics import Score, score
from ..plugin_finder import import_from_plugin
from ..runs.folder import PARAMETERS
from ..text_files import dictionary_folder, read_sentences, require_same_count
from ..text_form import TextForm
from ..translation.box import ONNX, copy_text_form, write_manifest
from ..translation.distribution import BoxDescription, Card, read_description, write_distribution
from ..translation.loading import load_checkpoint
from ..translation.model import Model
from .translate import Chunk, OnnxSearch, make_translator

OPTIONS_ANYWHERE = True


class PackedTest(NamedTuple):
    """A test set: its name and the files of both sides."""

    name: str
    source: Path
    reference: Path


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("description", type=Path, metavar="BOX.yaml", help="what the box is")
    parser.add_argument("models", nargs="+", metavar="NAME=CHECKPOINT", help="systems of the file")
    parser.add_argument("--run", type=Path, required=True, metavar="RUN", help="run folder with the text's settings")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with the dictionaries (RUN/data)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.add_argument(
        "--test",
        action="append",
        default=[],
        metavar="NAME=SOURCE,REFERENCE",
        help="raw text to score the models on; may be repeated",
    )
    parser.add_argument(
        "--shortlist",
        type=Path,
        metavar="FILE",
        help="of the model as ONNX, from recurrent-mt shortlist: makes its search faster",
    )
    parser.add_argument("--no-onnx", dest="onnx", action="store_false", help="leave out the model as ONNX")


def run(options: argparse.Namespace) -> None:
    """Writes the box, and prints its size."""
    description = read_description(options.description)
    named = split_named(options.parser, options.models, "NAME=CHECKPOINT", "a model")
    checkpoints = {name: Path(path) for name, path in named}
    tests = read_tests(options)
    if unknown := [name for name in checkpoints if name not in description.systems]:
        known = ", ".join(description.systems)
        raise ValueError(f"{options.description} describes no system {unknown[0]}: it has {known}")
    lacks_onnx = options.onnx and description.onnx not in (None, *checkpoints)
    if lacks_onnx or not checkpoints.keys() - {description.onnx}:
        raise ValueError(f"{options.description} calls {description.onnx} onnx: give its checkpoint, and another one")
    if not options.onnx:
        checkpoints.pop(description.onnx or "", None)
    former = options.out / description.package
    if options.out.exists() and any(options.out.iterdir()) and not former.is_dir():
        raise ValueError(f"{options.out} holds something else than the box {description.name}: choose another --out")
    # What is read may lie in the box that is there, which stays as it is until the new one is whole.
    with partial_folder(options.out) as made:
        names = [name for name in description.systems if name in checkpoints]
        pack(options, description, made, {name: checkpoints[name] for name in names}, tests)
        # What pip has built of an earlier box, it would install again, with systems that this one does not have.
        if (built := options.out / "build").is_dir():
            shutil.rmtree(built)
        replace_entries(made, options.out)
    size = sum(file.stat().st_size for file in options.out.rglob("*") if file.is_file())
    # Without a slash, pip would take the folder for the name of a package.
    place = shlex.quote(os.path.join(os.curdir, options.out))
    print(f"{options.out}: {', '.join(names)}; {size / 1e6:.1f} MB. pip install {place}")


def pack(
    options: argparse.Namespace,
    description: BoxDescription,
    out: Path,
    checkpoints: Mapping[str, Path],
    tests: Sequence[PackedTest],
) -> None:
    """Writes the whole distribution into an empty folder; the first that is stored as a checkpoint is the default."""
    folder = out / description.package
    form = copy_text_form(options.run, options.data or dictionary_folder(options.run / "data"), folder)
    default = next(name for name in checkpoints if name != description.onnx)
    exported = (description.onnx or default) if options.onnx else None
    files = {name: folder / PARAMETERS.format(name, 1) for name in checkpoints}
    cards: list[Card] = []
    for name, file in files.items():
        facts = import_from_plugin("halving", "checkpoints").write_half_precision(checkpoints[name], file)
        try:
            model = load_checkpoint(name, file)
        except ValueError as error:
            raise ValueError(f"{checkpoints[name]} is not of the text of {options.run}: {error}") from error

        places = {file: 16} if name != description.onnx else {}
        if name == exported:
            import_from_plugin("exporting", "checkpoints").write_onnx(
                file, folder / "data", folder / ONNX, int8=True, shortlist=options.shortlist
            )
            # By its path: the word alone is also that of a folder where the tool is called.
            places[folder / ONNX] = 8
        for place, bits in places.items():
            # Before the test sets, as it takes seconds: a sentence that is too long ends the tool.
            translations = translate_shown(description, form, model if place == file else place)
            scores = {test.name: score_system(form, ["translate", str(folder), str(place)], test) for test in tests}
            size = sum(part.stat().st_size for part in ([place] if place == file else place.iterdir()))
            cards.append(Card(name, bits, **facts._asdict(), size=size, scores=scores, translations=translations))
        if name == description.onnx:
            shutil.rmtree(file.parents[1])
    write_distribution(description, cards, form, out)
    stored = (name for name, file in files.items() if file.exists())
    write_manifest(folder, description.manifest(default, stored))


def translate_shown(description: BoxDescription, form: TextForm, model: Model | Path) -> list[str]:
    """What a model, or an exported one in a folder, makes of the sentences that cards show."""
    sentences = list(description.shown)
    if not isinstance(model, Path):
        return model.translate(sentences)
    search = make_translator(form, OnnxSearch(model, form, beam=5, threads=1))
    return search(Chunk(sentences, first=1, digest="")).text.splitlines()


def read_tests(options: argparse.Namespace) -> list[PackedTest]:
    """The test sets of the command line; a missing file or sides of different lengths end the tool first of all."""
    tests = []
    for name, files in split_named(options.parser, options.test, "NAME=SOURCE,REFERENCE", "--test"):
        source, comma, reference = files.partition(",")
        if not (source and comma and reference):
            options.parser.error(f"--test must be NAME=SOURCE,REFERENCE, not '{name}={files}'")
        tests.append(PackedTest(name, Path(source), Path(reference)))
        require_same_count(source, read_sentences(source), reference, read_sentences(reference))
    return tests


def score_system(form: TextForm, command: list[str], test: PackedTest) -> Score:
    """The BLEU of a model as packed, by the command that anyone would call.

    Raises:
        RuntimeError: if the command fails; what it says goes to standard error.
    """
    with TemporaryDirectory() as place:
        file = Path(place) / "translations"
        line = [sys.executable, "-m", "recurrent_mt", *command, "--input", str(test.source), "--out", str(file)]
        if subprocess.run(line, check=False).returncode:
            raise RuntimeError(f"recurrent-mt {command[0]} could not translate {test.source}")
        translations = read_sentences(file)
    references = read_sentences(test.reference)
    return score("bleu", translations, references, target_language=form.target, lowercase=form.lowercase)
