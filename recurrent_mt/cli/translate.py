"""Translates raw text with a trained model: one sentence a line in, one translation a line out.

    echo "Le Parlement a adopté la résolution." | recurrent-mt translate
    recurrent-mt translate RUN MODEL.pt <input.fr >output.en
    recurrent-mt translate RUN MODEL.pt --input million.fr --out million.en --jobs 8
    recurrent-mt translate RUN EXPORTED <input.fr >output.en

RUN is a run folder of a recipe, or a box: it says how text is tokenized, segmented, and put together again. MODEL is a
checkpoint or the name of one of its systems, or several, joined by colons. It may also be a folder that recurrent-mt
export has written, or, of a box, the word onnx. Without them, the model is that of the installed box. Empty lines are
kept; a line of more than 1,000 tokens is named and left empty. What is typed on a terminal is translated line by line.
Memory does not grow with the text. If a call with --out is stopped, the same call resumes after the last lines that are
whole.

PyTorch and fairseq translate with checkpoints; FLAGS after -- go to fairseq. onnxruntime translates with exported
models, and needs neither of them: where they are missing, a box's model is its exported one. A line on standard
error says which translates; it is fairseq's command, unless RUN is a box.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
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
from ..ordered_map import ordered_map
from ..plugin_finder import FAIRSEQ_MISSING, find_plugin
from ..resumable_file import ResumableFile, working_files
from ..runs.folder import find_systems
from ..runs.processes import has_gpu
from ..search_process import SearchError, SearchProcess
from ..text_files import (
    FileError,
    check_output_files,
    checksum,
    dictionary_folder,
    read_dictionary,
    read_lines,
    read_standard_input,
)
from ..text_form import LONGEST, TextForm, read_text_form
from ..translation.box import ONNX, find_folder, read_box
from ..translation.loading import find_checkpoint

if TYPE_CHECKING:
    from ..onnx_translation import OnnxModel

LOG = logging.getLogger(__name__)

#: Lines of a buffer, unless the call says otherwise.
BUFFER = 1000
#: How many lines a warning names.
MOST_NAMED = 5
#: Seconds between two lines about how far it has come.
PAUSE = 30
#: What translates.
WITH_PYTORCH, WITH_ONNXRUNTIME = "PyTorch translates", "onnxruntime translates"
#: What the log says of lines.
TOO_LONG = "%s: more than %s tokens are not translated, and leave an empty line: divide it into sentences"
UNFAMILIAR = "%s: the model has not learned to read this, and may make something up"
OPTIONS_ANYWHERE = True
AFTER_DASHES = "flags"  # what gets the words after --


class Chunk(NamedTuple):
    """Lines that are translated together, as many as a buffer holds."""

    lines: list[str]
    first: int  # the number of the first line, from 1
    digest: str  # of all lines of the input up to the last of these


class TranslatedChunk(NamedTuple):
    """The translations of a chunk, one a line, and how far the input is translated with it."""

    text: str
    lines: int
    digest: str
    too_long: list[str]  # the lines that are left empty, and how many tokens they have
    unfamiliar: list[str]  # the lines that the model has not learned to read, and why


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
        help=f"lines that are sorted by length and translated together ({BUFFER})",
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
        metavar="MODEL",
        help="checkpoint or system, or several, joined by colons; or exported model (a box's default, or the only one)",
    )
    parser.add_argument("flags", nargs="*", metavar="FLAG", help="after --, flags for fairseq")


def run(options: argparse.Namespace) -> None:
    """Writes the translations."""
    options.folder = find_folder(options.run)
    # Before anything is said of its models: the folder of an exported one is no run folder.
    form = read_text_form(options.folder)
    choose_model(options)
    if options.export:
        check_words(form, options.export)
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
    """Finds what translates: an exported model or checkpoints, those of the run folder or box where none is named.

    Raises:
        OSError: if there is no such model.
        ValueError: if it is not clear which model, as of `find_checkpoint`.
        ModuleNotFoundError: if what such a model needs is not installed.
    """
    options.export, options.checkpoints = choose_export(options), []
    if options.export:
        if not find_spec("onnxruntime"):
            raise ModuleNotFoundError("No module named 'onnxruntime'", name="onnxruntime")
        return
    named = choose_checkpoints(options) if options.model else []
    if not find_spec("fairseq"):
        raise ModuleNotFoundError(
            f"{FAIRSEQ_MISSING}; without it, exported models translate: of a box, recurrent-mt translate BOX onnx"
        )
    options.checkpoints = named or [find_checkpoint(options.folder)[1]]


def choose_export(options: argparse.Namespace) -> Path | None:
    """The folder of the exported model that is named, or stands in for a box's default without fairseq; else None.

    Raises:
        FileNotFoundError: if the box has none.
    """
    if options.model and Path(options.model, "manifest.json").is_file():
        return Path(options.model)
    folder = options.folder / ONNX
    is_named = options.model == ONNX and not Path(ONNX).is_file()
    if is_named and not folder.is_dir():
        message = f"{options.folder} has no model as ONNX: name the folder that recurrent-mt export has written"
        raise FileNotFoundError(message)
    stands_in = not options.model and folder.is_dir() and not find_spec("fairseq")
    return folder if is_named or stands_in else None


def choose_checkpoints(options: argparse.Namespace) -> list[Path]:
    """The checkpoints that are named, themselves or by their systems.

    Raises:
        FileNotFoundError: if there is none of a name.
        ValueError: as of `choose_model`.
    """
    found = []
    for name in options.model.split(":"):
        path = Path(name)
        if not path.is_file() and (path.suffix == ".pt" or not find_systems(options.folder)):
            raise FileNotFoundError(f"there is no checkpoint or exported model {name}")
        # A file is a checkpoint, whatever else has its name.
        found.append(path if path.is_file() else find_checkpoint(options.folder, name)[1])
    return found


def check_words(form: TextForm, export: Path) -> None:
    """Raises FileError if a model was trained with other words than those of a run folder or box."""
    data = dictionary_folder(form.folder / "data")
    for side, language in (("source", form.source), ("target", form.target)):
        file, words = data / f"dict.{language}.txt", {word for _, word in read_lines(export / f"{side}.txt")}
        if not read_dictionary(file).keys() <= words:
            raise FileError(file, f"{export} has other words: it is of another run, or {side}.txt in it is damaged")


def check_options(options: argparse.Namespace) -> None:
    """Ends the tool with a message if options do not go together."""
    for flag in options.flags:
        if flag.partition("=")[0] in ("--input", "--buffer-size", "--results-path"):
            options.parser.error(f"{flag} is this tool's to set: give --input, --buffer-size, or --out before --")
    if options.export and (given := shlex.join([*(["--dry-run"] if options.dry_run else []), *options.flags])):
        why = f"is for fairseq, and onnxruntime translates with {options.export}"
        options.parser.error(f"{given} {why}: leave it out, or name a checkpoint")
    # Whoever types a sentence waits for its translation.
    options.typed = not options.input and sys.stdin.isatty()
    options.buffer_size = options.buffer_size or (1 if options.typed else BUFFER)


def refuse_own_inputs(form: TextForm, options: argparse.Namespace) -> None:
    """Raises ValueError if the output would take the place of the input, the model, or what its text is read with."""
    if options.output:
        dictionaries = dictionary_folder(form.folder / "data").glob("dict.*")
        read = [*options.checkpoints, form.model, form.folder / "options", *dictionaries]
        read += [options.input] if options.input else []
        read += options.export.iterdir() if options.export else []
        check_output_files(read, [options.output, *working_files(options.output)])


def search_command(form: TextForm, options: argparse.Namespace) -> list[str]:
    """The command line of fairseq's beam search."""
    program = Path(sys.executable).parent / "fairseq-interactive"
    return [
        *(str(program), str(dictionary_folder(form.folder / "data"))),
        *form.search_flags(find_plugin()),
        *("--path", ":".join(map(str, options.checkpoints)), "--beam", str(options.beam), *form.merge_flags),
        *("--input", "-", "--buffer-size", str(options.buffer_size)),
        *options.flags,
    ]


def show_command(command: Sequence[str]) -> None:
    """Prints it on standard error."""
    print(f"  $ {shlex.join(command)}", file=sys.stderr, flush=True)


def say_what_translates(form: TextForm, options: argparse.Namespace) -> None:
    """Prints on standard error what translates."""
    if options.export:
        print(WITH_ONNXRUNTIME, file=sys.stderr, flush=True)
    elif read_box(options.folder).default is None:
        show_command(search_command(form, options))
    else:
        print(WITH_PYTORCH, file=sys.stderr, flush=True)


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


def describe_search(form: TextForm, options: argparse.Namespace) -> dict[str, str]:
    """What decides the translations besides the text."""
    data = dictionary_folder(form.folder / "data")
    pieces = checksum(form.model) if form.scheme else ""
    # The manifest of an exported model has the checksums of its files.
    files = [options.export / "manifest.json"] if options.export else options.checkpoints
    return {
        "model": ":".join(map(checksum, files)),
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
    """Translates raw text chunk by chunk, in order; the log names lines that are not translated, or not well.

    Args:
        form: of the text.
        options: of the tool.
        lines: to translate.
        done: how many lines came before them.
        digest: of those.

    Raises:
        SearchError: if the search fails; the last lines of what fairseq said go to standard error.
    """
    say_what_translates(form, options)
    chunks = read_chunks(lines, options.buffer_size, done, digest or hashlib.sha256())
    on_gpu = not options.export and has_gpu(options.flags)
    jobs = options.jobs or (1 if options.typed or on_gpu else processors())
    # A process without a chunk would only take processors from the others.
    first = list(islice(chunks, jobs))
    jobs = max(1, len(first))
    search = make_search(form, options, jobs)
    try:
        told = False
        for part in ordered_map(make_translator(form, search), chain(first, chunks), jobs):
            if part.too_long:
                LOG.warning(TOO_LONG, name_lines(part.too_long), f"{LONGEST:,}")
            # Of a text, one is enough; who types line by line is told each time.
            if part.unfamiliar and (options.typed or not told):
                told = True
                LOG.warning(UNFAMILIAR, name_lines(part.unfamiliar))
            yield part
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

    def translate(self, sentences: Sequence[str], first: int) -> list[str]:
        """The words of the best translation of each sentence.

        Raises:
            ValueError: naming a line that is too long for the model.
        """
        from ..onnx_translation import translate

        model, places = self.start(), [f"line {number}" for number, _ in enumerate(sentences, first)]
        found = translate(model, sentences, beam=self._beam, places=places)
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
    """Divides lines into chunks of `size`; the last has those that are left."""
    lines = iter(lines)
    while chunk := list(islice(lines, size)):
        digest.update("".join(f"{line}\n" for line in chunk).encode())
        yield Chunk(chunk, done + 1, digest.hexdigest())
        done += len(chunk)


def make_translator(form: TextForm, search: SearchProcess | OnnxSearch) -> Callable[[Chunk], TranslatedChunk]:
    """The function that translates a chunk; each process that calls it has a search of its own."""

    def translate(chunk: Chunk) -> TranslatedChunk:
        search.start()
        sentences: list[str] = []
        too_long: list[str] = []
        unfamiliar: list[str] = []
        for number, line in enumerate(chunk.lines, chunk.first):
            tokens = form.read(line, form.source)
            if (count := len(tokens.split())) > LONGEST:
                too_long.append(f"{number} ({count:,} tokens)")
                tokens = ""
            elif reason := form.unfamiliar(tokens):
                unfamiliar.append(f"{number} ({reason})")
            sentences.append(tokens)
        # What is empty is searched, too, so that a sentence's number tells its line; what a model makes of it is not.
        found = zip(sentences, search.translate(sentences, chunk.first), strict=True)
        text = "".join(f"{form.join(words) if tokens else ''}\n" for tokens, words in found)
        return TranslatedChunk(text, chunk.first + len(sentences) - 1, chunk.digest, too_long, unfamiliar)

    return translate


def name_lines(found: Sequence[str]) -> str:
    """The first of some lines for a warning, each a number and what was found there."""
    more = f", and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"line{'s' if found[1:] else ''} {', '.join(found[:MOST_NAMED])}{more}"
