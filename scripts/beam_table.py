#!/usr/bin/env python3
"""Writes the table and the figure of scripts/beam_curve.sh: BLEU, length and speed by beam.

python scripts/beam_table.py --system NAME=FOLDER --reference FILE --target-lang en --out FOLDER
"""

import argparse
import sys
from pathlib import Path

from recurrent_mt.evaluation.beams import beam_figure, beam_table, read_beams
from recurrent_mt.evaluation.figures import save_figure
from recurrent_mt.evaluation.records import make_frame
from recurrent_mt.evaluation.tables import tables_as_text, write_results
from recurrent_mt.text_files import read_sentences


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
        records, signature = [], ""
        for value in arguments.system:
            name, equals, folder = value.partition("=")
            if not (name and equals and folder):
                parser.error(f"--system must be NAME=FOLDER, not '{value}'")
            found, signature = read_beams(name, folder, references, arguments.target_lang, arguments.lowercase)
            records += found
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    frame = make_frame(records)
    tables, out = [beam_table(frame, signature)], Path(arguments.out)
    write_results(out / "beams", tables, frame)
    save_figure(beam_figure(frame), out / "beams.svg")
    print(tables_as_text(tables), end="")


if __name__ == "__main__":
    main()
