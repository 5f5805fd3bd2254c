"""Scores translations of a test set of a run: BLEU, chrF, and TER with their signatures.

    recurrent-mt score-run RUN NAME=FILE... [-- FLAG...]

RUN is a run folder of a recipe, FILE a translation of its test set, detokenized, one sentence a line. FLAGs go to
recurrent-mt score, for example --confidence, --paired bootstrap, or --metrics bleu,meteor.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from ..experiments.text_form import TextForm, read_text_form
from ..text_files import FileError

OPTIONS_ANYWHERE = True


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--split", default="test", metavar="NAME", help="test set that is the reference (%(default)s)")
    parser.add_argument(
        "--test-set",
        metavar="NAME",
        help="instead, a test set that sacrebleu knows and downloads, such as wmt14/full; where it is not available, "
        "the run's reference is used, with a message",
    )
    parser.add_argument("--out", metavar="PREFIX", help="also write PREFIX.txt, PREFIX.md, and PREFIX.json")
    parser.add_argument("--dry-run", action="store_true", help="print the command only")
    parser.add_argument("run", metavar="RUN", help="run folder")
    parser.add_argument("systems", nargs="*", metavar="NAME=FILE", help="translations; after --, FLAGs")


def run(options: argparse.Namespace) -> int:
    """Prints the command, and the table.

    Raises:
        ValueError: if there is no reference, or no translation.
    """
    form = read_text_form(options.run)
    systems = [word for word in options.systems if not word.startswith("-") and "=" in word]
    if not systems:
        raise ValueError("which translations? give NAME=FILE")
    flags = options.systems[len(systems) :]
    with TemporaryDirectory() as folder:
        reference = find_reference(form, options, Path(folder) / "reference")
        command = [sys.executable, "-m", "recurrent_mt", "score", "--reference", str(reference)]
        command += ["--target-lang", form.target, *(word for name in systems for word in ("--system", name))]
        command += ["--lowercase"] if form.lowercase else []
        command += ["--out", options.out] if options.out else []
        command += flags
        print(f"  $ {shlex.join(command)}", flush=True)
        return 0 if options.dry_run else subprocess.run(command, check=False).returncode


def find_reference(form: TextForm, options: argparse.Namespace, file: Path) -> Path:
    """The run's own, or one of sacrebleu's test sets, which is written to a file.

    Raises:
        FileError: if there is none.
        ValueError: if sacrebleu has no such test set.
    """
    own = form.folder / "text" / "raw" / f"{options.split}.{form.target}"
    if options.test_set:
        from sacrebleu import DATASETS

        if options.test_set not in DATASETS:
            raise ValueError(f"sacrebleu has no test set {options.test_set}: sacrebleu --list prints those it has")
        words = ["--test-set", options.test_set, "--language-pair", f"{form.source}-{form.target}", "--echo", "ref"]
        command = [sys.executable, "-m", "sacrebleu", *words]
        print(f"  $ {shlex.join(command)}")
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
        if done.returncode == 0 and done.stdout:
            file.write_text(done.stdout, encoding="utf-8")
            return file
        print((done.stderr.splitlines() or [""])[-1], file=sys.stderr)
        pair = f"{form.source}-{form.target}"
        print(f"sacrebleu has no {options.test_set} for {pair} available (see above): using the reference {own}.")
    if not own.is_file():
        raise FileError(own, f"there is no such reference: is {options.split} a test set of {form.folder}?")
    return own
