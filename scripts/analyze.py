#!/usr/bin/env python3
r"""Shows where translation breaks: scores by sentence length, by unknown words, by word frequency, with intervals.

Run folders of the recipes know their test set, systems, seeds and dictionaries:

    python scripts/analyze.py runs/quickstart-fr-en --out analysis

Output of anything else, one sentence a line; several files of one system are its seeds:

    python scripts/analyze.py --source test.fr --reference test.en --target-lang en \\
        --system mine=mine.en --system theirs=theirs-1.en,theirs-2.en --out analysis
"""

import argparse
import sys
from pathlib import Path

from recurrent_mt.evaluation.command_line import add_input_arguments, read_input
from recurrent_mt.evaluation.plots import write_plots
from recurrent_mt.evaluation.study import study, study_as_json, study_as_markdown, study_as_text
from recurrent_mt.text_files import write_text


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_input_arguments(parser)
    parser.add_argument("--out", required=True, help="folder for analysis.txt, .md, .json and the plots")
    arguments = parser.parse_args()
    try:
        result = study(**read_input(parser, arguments))
        folder = Path(arguments.out)
        folder.mkdir(parents=True, exist_ok=True)
        for suffix, render in {"json": study_as_json, "md": study_as_markdown, "txt": study_as_text}.items():
            write_text(folder / f"analysis.{suffix}", render(result))
        write_plots(result, folder)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"error: {error}")
    print(study_as_text(result), end="")


if __name__ == "__main__":
    main()
