"""Translates raw text with a trained model: one sentence a line in, one translation a line out.

    echo "Le Parlement a adopté la résolution." | recurrent-mt translate
    recurrent-mt translate RUN MODEL.pt <input.fr >output.en
    recurrent-mt translate RUN MODEL.pt --input million.fr --out million.en --jobs 8

RUN is a run folder of a recipe: it says how text is tokenized, segmented, and put together again. MODEL.pt is a
checkpoint or the name of one of its systems, or several, joined by colons. Without them, the model is that of the
installed box. Empty lines are kept; a line of more than 1,000 tokens is named and left empty. What is typed on a
terminal is translated line by line. Memory does not grow with the text. If a call with --out is stopped, the same call
resumes after the last lines that are whole.

PyTorch and fairseq translate where they are installed. Without them, onnxruntime does, with the model that a box also
has as ONNX. One line on standard error says which; it is fairseq's command, unless RUN is a box. FLAGs after -- go to
fairseq.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..arguments import positive, processors
from ..characters import normalize
from ..ordered_map import ordered_map
from ..plugin_finder import FAIRSEQ_MISSING, find_plugin
from ..resumable_file import ResumableFile, working_files
from ..runs.folder import find_systems
from ..runs.processes import has_gpu
from ..search_process import SearchError, SearchProcess
from ..text_files import (
    check_output_files,
    checksum,
    dictionary_folder,
    read_lines,
    read_standard_input,
)
from ..text_form import Lines, TextForm, read_text_form
from ..translation.box import find_default, find_export, find_folder, read_default

if TYPE_CHECKING:
    from ..onnx_translation import OnnxModel

#: Sentences of a buffer, unless the call says otherwise.
BUFFER = 1000
#: Seconds between two lines about how far it has come.
PAUSE = 30
#: What is said of a box: what translates, and what the other way would give.
WITH_PYTORCH = "PyTorch translates; recurrent-mt translate-onnx answers sooner, with the model in eight bits"
WITH_ONNXRUNTIME = (
    "onnxruntime translates; PyTorch and fairseq, which scripts/setup.sh installs, would give the model in full "
    "precision, the other models, and the page of recurrent-mt demo"
)
OPTIONS_ANYWHERE = True
AFTER_DASHES = "flags"  # what gets the words after --


class Chunk(NamedTuple):
    """Lines that are translated together: as many sentences as a buffer holds, and the empty lines among them."""

    lines: list[str]
    first: int  # the number of the first line, from 1
    digest: str  # of all lines of the input up to the last of these


class TranslatedChunk(NamedTuple):
    """The translations of a chunk, one a line, and how far the input is translated with it."""

    text: str
    lines: int
    digest: str


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", type=Path, metavar="FILE", help="instead of standard input")
    parser.add_argument(
        "--out",
        dest="output",
        type=Path,
        metavar="FILE",
        help="instead of standard output; appears when it is whole, and is FILE.partial until then",
    )
    parser.add_argument("--beam", type=positive, default=5, metavar="N", help="(%(default)s)")
    parser.add_argument(
        "--buffer-size",
        type=positive,
        metavar="N",
        help=f"sentences that are sorted by length and translated together ({BUFFER})",
    )
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="processes, each with the model and a part of the processors (one per processor; with a GPU, 1)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the fairseq command only")
    parser.add_argument("run", nargs="?", metavar="RUN", help="run folder, or name of a box (the installed one)")
    parser.add_argument(
        "model",
        nargs="?",
        metavar="MODEL.pt",
        help="checkpoint or system, or several, joined by colons (of a box, its default)",
    )
    parser.add_argument("flags", nargs="*", metavar="FLAG", help="after --, flags for fairseq")


def run(options: argparse.Namespace) -> None:
    """Writes the translations."""
    choose_model(options)
    form = read_text_form(options.run)
    for model in options.model.split(":"):
        if not Path(model).is_file():
            raise FileNotFoundError(f"there is no file {model}")
    options.export = None if options.dry_run else choose_export(options)
    refuse_own_inputs(form, options)
    check_options(options)
    if options.dry_run:
        show_command(search_command(form, options))
        return
    lines = (text for _, text in read_lines(options.input)) if options.input else read_standard_input()
    if options.output:
        translate_to_file(form, options, lines)
        return
    for part in translate_lines(form, options, lines):
        sys.stdout.write(part.text)
        sys.stdout.flush()


def choose_model(options: argparse.Namespace) -> None:
    """Finds the run folder or box and the checkpoints, the box's where none is named.

    Raises:
        OSError: if there is no such folder, or no box.
        ValueError: if the folder is not a box, and no checkpoint is named; also as of `refuse_colon`.
    """
    options.run = find_folder(options.run)
    refuse_colon(options.run)
    options.quiet = read_default(options.run) is not None and not options.dry_run
    if not options.model:
        options.model = str(find_default(options.run))
        return
    if Path(options.model).is_file():
        refuse_colon(options.model)
    models = options.model.split(":")
    # A file is a checkpoint, whatever else has its name.
    systems = {} if all(Path(model).is_file() for model in models) else find_systems(options.run)
    options.model = ":".join(model if Path(model).is_file() else str(systems.get(model, model)) for model in models)


def choose_export(options: argparse.Namespace) -> Path | None:
    """The folder of the exported model that stands in for the checkpoint where fairseq is not installed, or None.

    Raises:
        ModuleNotFoundError: if fairseq is missing, and onnxruntime is, too, or there is no such model.
    """
    if find_spec("fairseq"):
        return None
    if not options.quiet or options.model != str(find_default(options.run)):
        raise ModuleNotFoundError(f"{FAIRSEQ_MISSING}; without it, a box's default model translates, and no other")
    if options.flags:
        raise ModuleNotFoundError(f"{FAIRSEQ_MISSING}; without it, there are no FLAGs: {shlex.join(options.flags)}")
    if not find_spec("onnxruntime"):
        raise ModuleNotFoundError("No module named 'onnxruntime'", name="onnxruntime")
    return find_export(options.run)


def refuse_colon(path: str | Path) -> None:
    """Raises ValueError for a path that fairseq would take for several."""
    if ":" in str(path):
        raise ValueError(f"{path} has a colon, by which fairseq separates paths: rename it, or make a link to it")


def check_options(options: argparse.Namespace) -> None:
    """Ends the tool with a message if options do not go together."""
    for flag in options.flags:
        if flag.partition("=")[0] in ("--input", "--buffer-size", "--results-path"):
            options.parser.error(f"{flag} is this tool's to set: give --input, --buffer-size, or --out before --")
        if flag.partition("=")[0] == "--constraints":
            options.parser.error(f"{flag} is of tokens, and this tool reads text: call fairseq-interactive")
    # Whoever types a sentence waits for its translation.
    options.typed = not options.input and sys.stdin.isatty()
    options.buffer_size = options.buffer_size or (1 if options.typed else BUFFER)


def refuse_own_inputs(form: TextForm, options: argparse.Namespace) -> None:
    """Raises ValueError if the output would take the place of the input, the model, or what its text is read with."""
    if options.output:
        dictionaries = dictionary_folder(form.folder / "data").glob("dict.*")
        read = [*options.model.split(":"), form.model, form.folder / "options", *dictionaries]
        read += [options.input] if options.input else []
        read += options.export.iterdir() if options.export else []
        check_output_files(read, [options.output, *working_files(options.output)])


def search_command(form: TextForm, options: argparse.Namespace) -> list[str]:
    """The command line of fairseq's beam search."""
    program = Path(sys.executable).parent / "fairseq-interactive"
    return [
        *(str(program), str(dictionary_folder(form.folder / "data"))),
        *form.search_flags(find_plugin()),
        *("--path", options.model, "--beam", str(options.beam), *form.merge_flags),
        *("--input", "-", "--buffer-size", str(options.buffer_size)),
        *options.flags,
    ]


def show_command(command: Sequence[str]) -> None:
    """Prints it on standard error."""
    print(f"  $ {shlex.join(command)}", file=sys.stderr, flush=True)


def translate_to_file(form: TextForm, options: argparse.Namespace, lines: Iterator[str]) -> None:
    """Translates into a file, from where an earlier call was stopped.

    Raises:
        FileError: if the file was begun with something else.
    """
    name = options.input or "standard input"
    file = ResumableFile(options.output, describe_search(form, options))
    try:
        done, digest = file.progress.lines, hashlib.sha256()
        for line in islice(lines, done):
            digest.update(f"{line}\n".encode())
        if done:
            file.require_digest(digest.hexdigest(), str(name))
            print(f"Resuming {options.output} after line {done:,}.", file=sys.stderr, flush=True)
        begun = said = time.monotonic()
        for part in translate_lines(form, options, lines, done, digest):
            file.append(part.text, lines=part.lines, digest=part.digest)
            if time.monotonic() - said > PAUSE:
                said = time.monotonic()
                speed = (part.lines - done) / (said - begun)
                print(f"{part.lines:,} lines, {speed:.1f} a second", file=sys.stderr, flush=True)
        file.finish()
    finally:
        file.close()


def files_of_model(options: argparse.Namespace) -> list[Path]:
    """The checkpoints; of an exported model, what has the checksums of all its files."""
    return [options.export / "manifest.json"] if options.export else [Path(model) for model in options.model.split(":")]


def describe_search(form: TextForm, options: argparse.Namespace) -> dict[str, str]:
    """What decides the translations besides the text."""
    data = dictionary_folder(form.folder / "data")
    pieces = checksum(form.model) if form.scheme else ""
    return {
        "model": ":".join(checksum(model) for model in files_of_model(options)),
        "dictionary": ":".join(checksum(data / f"dict.{language}.txt") for language in (form.source, form.target)),
        "segmentation": " ".join([*form.record().values(), pieces]),
        "--beam": str(options.beam),
        "--buffer-size": str(options.buffer_size),
        "FLAG": shlex.join(options.flags),
    }


def translate_lines(
    form: TextForm,
    options: argparse.Namespace,
    lines: Iterable[str],
    done: int = 0,
    digest: hashlib._Hash | None = None,
) -> Iterator[TranslatedChunk]:
    """Translates raw text chunk by chunk, in order; what is empty is not translated.

    Args:
        form: of the text.
        options: of the tool.
        lines: to translate.
        done: how many lines came before them.
        digest: of those.

    Raises:
        SearchError: if the search fails; the last lines of what fairseq said go to standard error.
    """
    if options.quiet:
        print(WITH_ONNXRUNTIME if options.export else WITH_PYTORCH, file=sys.stderr, flush=True)
    else:
        show_command(search_command(form, options))
    chunks = read_chunks(lines, options.buffer_size, done, digest or hashlib.sha256())
    on_gpu = not options.export and has_gpu(options.flags)
    jobs = options.jobs or (1 if options.typed or on_gpu else processors())
    # A process without a chunk would only take processors from the others.
    first = list(islice(chunks, jobs))
    jobs = max(1, len(first))
    search = make_search(form, options, jobs)
    try:
        yield from ordered_map(make_translator(form, search), chain(first, chunks), jobs)
    except SearchError as error:
        if error.said:
            print(error.said, file=sys.stderr)
        raise
    finally:
        search.close()


class OnnxSearch:
    """A beam search by onnxruntime in this process, with the methods of `SearchProcess`.

    Args:
        folder: of the exported model.
        form: of the text.
        beam: hypotheses for each sentence.
        threads: of onnxruntime.
    """

    def __init__(self, folder: Path, form: TextForm, beam: int, threads: int) -> None:
        self._folder, self._form, self._beam, self._threads = folder, form, beam, threads
        self._model: OnnxModel | None = None

    def translate(self, sentences: Sequence[str]) -> list[str]:
        """The words of the best translation of each sentence.

        Raises:
            SearchError: naming a sentence that is too long for the model.
        """
        from ..onnx_translation import translate

        model = self.start()
        for place, sentence in enumerate(sentences):
            if (count := len(model.numbers(sentence))) > model.longest_source:
                message = f"it has {count} tokens, </s> included; the model takes {model.longest_source}"
                raise SearchError(message, "", place)
        found = translate(model, sentences, beam=self._beam)
        return [" ".join(self._form.merge(hypotheses[0].text(model).split())) for hypotheses in found]

    def start(self) -> OnnxModel:
        """Loads the model, in each process by itself: onnxruntime's threads do not outlive a fork."""
        from ..onnx_translation import OnnxModel

        self._model = self._model or OnnxModel(self._folder, threads=self._threads)
        return self._model

    def close(self) -> None:
        self._model = None


def make_search(form: TextForm, options: argparse.Namespace, jobs: int) -> SearchProcess | OnnxSearch:
    """The search that each of so many processes has for itself, with its part of the processors."""
    threads = max(1, processors() // jobs)
    if options.export:
        return OnnxSearch(options.export, form, options.beam, threads)
    variables = {} if jobs == 1 else {"OMP_NUM_THREADS": str(threads), **os.environ}
    return SearchProcess(search_command(form, options), options.buffer_size, variables)


def read_chunks(lines: Iterable[str], size: int, done: int, digest: hashlib._Hash) -> Iterator[Chunk]:
    """Divides lines into chunks of `size` sentences; the last has those that are left."""
    chunk: list[str] = []
    first, sentences = done + 1, 0
    for line in lines:
        chunk.append(line)
        digest.update(f"{line}\n".encode())
        sentences += bool(normalize(line))
        if sentences == size:
            yield Chunk(chunk, first, digest.hexdigest())
            chunk, first, sentences = [], first + len(chunk), 0
    if chunk:
        yield Chunk(chunk, first, digest.hexdigest())


def make_translator(form: TextForm, search: SearchProcess | OnnxSearch) -> Callable[[Chunk], TranslatedChunk]:
    """The function that translates a chunk; each process that calls it has a search of its own."""

    def translate(chunk: Chunk) -> TranslatedChunk:
        if any(map(normalize, chunk.lines)):
            search.start()
        lines = Lines(form, chunk.lines, chunk.first)
        last = chunk.first + len(chunk.lines) - 1
        try:
            found = search.translate(lines.sentences)
        except SearchError as error:
            number = error.sentence
            place = f"lines {chunk.first} to {last}" if number is None else f"line {lines.numbers[number]}"
            raise SearchError(f"{place}: {error}", error.said) from error
        return TranslatedChunk(lines.fill(map(form.join, found)), last, chunk.digest)

    return translate
