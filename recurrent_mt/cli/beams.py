"""Writes the table and the figure of scripts/beam_curve.sh: BLEU, length, and speed by beam."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..evaluation.beam_curve import beam_figure, beams_as_json, beams_as_markdown, beams_as_text, read_beams
from ..evaluation.output_files import save_figure, write_text
from ..evaluation.sentences import read_sentences


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "--system", action="append", required=True, metavar="NAME=FOLDER", help="folder with beam-N.log files"
    )
    parser.add_argument("--reference", required=True, help="raw reference, one sentence per line")
    parser.add_argument("--target-lang", required=True, help="chooses BLEU's tokenization")
    parser.add_argument("--lowercase", action="store_true", help="ignore case")
    parser.add_argument("--out", required=True, help="folder for beams.txt, .md, .json, and .svg")


def run(options: argparse.Namespace) -> None:
    """Prints the table, and writes it and the figure to the folder."""
    references = read_sentences(options.reference)
    points = []
    for value in options.system:
        name, equals, folder = value.partition("=")
        if not (name and equals and folder):
            options.parser.error(f"--system must be NAME=FOLDER, not '{value}'")
        points += read_beams(name, folder, references, options.target_lang, options.lowercase)
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    for suffix, render in {"json": beams_as_json, "md": beams_as_markdown, "txt": beams_as_text}.items():
        write_text(out / f"beams.{suffix}", render(points))
    save_figure(beam_figure(points), out / "beams.svg")
    print(beams_as_text(points), end="")
