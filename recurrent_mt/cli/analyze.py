r"""Shows where translation breaks: scores by sentence length, by unknown words, by word frequency, with intervals.

The recipes' run folders know their test set, systems, seeds, and dictionaries:

    recurrent-mt analyze runs/quickstart-fr-en --out analysis

For any other output, one sentence per line; several files for one system are its seeds:

    recurrent-mt analyze --source test.fr --reference test.en --target-lang en \
        --system mine=mine.en --system theirs=theirs-1.en,theirs-2.en --out analysis
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..evaluation.analysis import analyze
from ..evaluation.plots import write_plots
from ..evaluation.tables import tables_as_text
from .inputs import add_input_arguments, read_input


def configure(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    parser.add_argument("--out", required=True, help="folder for analysis.txt, .md, .json, and the plots")


def run(options: argparse.Namespace) -> None:
    """Prints the analysis, and writes it and its plots to the folder."""
    analysis = analyze(**read_input(options))
    folder = Path(options.out)
    analysis.write(folder / "analysis")
    write_plots(analysis, folder)
    print(tables_as_text(analysis.list_tables()), end="")
