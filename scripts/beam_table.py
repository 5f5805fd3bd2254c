#!/usr/bin/env python3
"""Writes the table and the figure of scripts/beam_curve.sh: BLEU, length and speed by beam.

python scripts/beam_table.py --system NAME=FOLDER --reference FILE --target-lang en --out FOLDER
"""

import argparse
import sys
from pathlib import Path

from recurrent_mt.evaluation.beam_curve import beam_figure, beams_as_json, beams_as_markdown, beams_as_text, read_beams
from recurrent_mt.evaluation.figures import save_figure
from recurrent_mt.text_files import read_sentences, write_text


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", action="append", required=True, metavar="NAME=FOLDER", help="of beam-N.log files")
    parser.add_argument("--reference", required=True, help="raw reference, one sentence a line")
    parser.add_argument("--target-lang", required=True, help="chooses BLEU's tokenisation")
    parser.add_argument("--lowercase", action="store_true", help="ignore case")
    parser.add_argument("--out", required=True, help="folder for beams.txt, .md, .json and .svg")
    arguments = parser.parse_args()
    try:
        references = read_sentences(arguments.reference)
        points = []
        for value in arguments.system:
            name, equals, folder = value.partition("=")
            if not (name and equals and folder):
                parser.error(f"--system must be NAME=FOLDER, not '{value}'")
            points += read_beams(name, folder, references, arguments.target_lang, arguments.lowercase)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    for suffix, render in {"json": beams_as_json, "md": beams_as_markdown, "txt": beams_as_text}.items():
        write_text(out / f"beams.{suffix}", render(points))
    save_figure(beam_figure(points), out / "beams.svg")
    print(beams_as_text(points), end="")


if __name__ == "__main__":
    main()
