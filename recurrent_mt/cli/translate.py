"""Translates raw text with a trained model: one sentence a line in, one translation a line out.

    recurrent-mt translate RUN MODEL.pt <input.fr >output.en

RUN is a run folder of a recipe: it says how text is tokenized, segmented, and put together again. MODEL.pt may be
several, joined by colons. An empty line stays one. The commands are printed on standard error; FLAGs after -- go to
fairseq.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ..evaluation.generate_log import read_generate_log
from ..fairseq_dictionary import dictionary_folder
from ..option_types import positive
from ..text_files import read_lines, read_standard_input, write_text
from ..text_form import TextForm, read_text_form
from .plugin import find_plugin

LOG_END = 15

OPTIONS_ANYWHERE = True


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input", type=Path, metavar="FILE", help="instead of standard input")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="instead of standard output; appears when it is whole"
    )
    parser.add_argument(
        "--split", metavar="NAME", help="translate this part of the binarized data, such as test, and no input"
    )
    parser.add_argument("--beam", type=positive, default=5, metavar="N", help="(%(default)s)")
    parser.add_argument(
        "--buffer-size",
        type=positive,
        default=1000,
        metavar="N",
        help="sentences that are sorted by length and translated together (%(default)s)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the fairseq command only")
    parser.add_argument("run", metavar="RUN", help="run folder")
    parser.add_argument("model", metavar="MODEL.pt", help="checkpoint, or several, joined by colons")
    parser.add_argument("flags", nargs="*", metavar="FLAG", help="after --, flags for fairseq")


def run(options: argparse.Namespace) -> None:
    """Writes the translations.

    Raises:
        OSError: if a file cannot be read or written.
        ValueError: if the run folder, or a sentence, cannot be used.
        RuntimeError: if fairseq fails.
    """
    form = read_text_form(options.run)
    for model in options.model.split(":"):
        if not Path(model).is_file():
            raise FileNotFoundError(f"there is no file {model}")
    with TemporaryDirectory() as folder:
        if options.split:
            lines = translate_split(form, options, Path(folder))
        else:
            if options.input:
                raw = [text for _, text in read_lines(options.input)]
            else:
                raw = [] if options.dry_run else list(read_standard_input())
            lines = translate_lines(form, options, raw, Path(folder))
    if options.dry_run:
        return
    text = "".join(f"{line}\n" for line in lines)
    if options.output:
        write_text(options.output, text)
    else:
        sys.stdout.write(text)


def translate_split(form: TextForm, options: argparse.Namespace, folder: Path) -> list[str]:
    """Translates one split of the binarized data."""
    log = folder / "log"
    search(form, options, "fairseq-generate", ["--gen-subset", options.split], log)
    return [] if options.dry_run else join(form, log)


def translate_lines(form: TextForm, options: argparse.Namespace, raw: Sequence[str], folder: Path) -> list[str]:
    """Raw text; what is empty is not translated."""
    tokens = [form.read(line, form.source) for line in raw]
    sentences = [line for line in tokens if line.split()]
    if not sentences and not options.dry_run:
        return ["" for _ in raw]
    file, log = folder / "sentences", folder / "log"
    write_text(file, "".join(f"{line}\n" for line in sentences))
    flags = ["--input", str(file), "--buffer-size", str(options.buffer_size)]
    search(form, options, "fairseq-interactive", flags, log)
    if options.dry_run:
        return []
    translations = iter(join(form, log))
    return [next(translations) if line.split() else "" for line in tokens]


def join(form: TextForm, log: Path) -> list[str]:
    """The translations of a log, in order, as people write them."""
    return [form.join(one.hypotheses[0].text or "") for one in read_generate_log(log).sentences]


def search(form: TextForm, options: argparse.Namespace, program: str, flags: Sequence[str], log: Path) -> None:
    """Runs fairseq's beam search.

    Raises:
        RuntimeError: if it fails; the last lines of what it said go to standard error.
    """
    command = [
        *(str(Path(sys.executable).parent / program), str(dictionary_folder(form.folder / "data"))),
        *form.search_flags(find_plugin()),
        *("--path", options.model, "--beam", str(options.beam), *form.merge_flags),
        *flags,
        *options.flags,
    ]
    print(f"  $ {shlex.join(command)}", file=sys.stderr, flush=True)
    if options.dry_run:
        return
    with log.open("wb") as file:
        # Without buffering, lines of standard output and of standard error stay whole in one file.
        variables = {**os.environ, "PYTHONUNBUFFERED": "1"}
        status = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=variables, check=False).returncode
    if status:
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()
        print("\n".join(said[-LOG_END:]), file=sys.stderr)
        raise RuntimeError(f"{program} failed with status {status}")
