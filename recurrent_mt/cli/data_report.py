"""Reports what a prepared corpus holds, after the reports of cleaning and selection."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ..data.reports import COUNTED, count_side, table
from ..text_files import read_dictionary, read_lines, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--prepared", required=True, type=Path, metavar="DIR", help="folder with SPLIT.LANG, segmented")
    parser.add_argument("--dictionaries", required=True, type=Path, metavar="DIR", help="folder with dict.LANG.txt")
    parser.add_argument("--source-lang", required=True, metavar="LANG")
    parser.add_argument("--target-lang", required=True, metavar="LANG")
    parser.add_argument("--splits", nargs="+", default=["train", "valid", "test"], metavar="SPLIT")
    parser.add_argument("--before", nargs="*", default=[], type=Path, metavar="FILE", help="reports to put first")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE")


def run(options: argparse.Namespace) -> None:
    """Writes the report."""
    write_text(options.out, render_report(options))


def render_report(options: argparse.Namespace) -> str:
    """The report, in Markdown.

    Raises:
        FileError: if a file is missing or not UTF-8.
    """
    languages = (options.source_lang, options.target_lang)
    dictionaries = {language: read_dictionary(options.dictionaries / f"dict.{language}.txt") for language in languages}
    rows = []
    for split in options.splits:
        for language in languages:
            lines = (text for _, text in read_lines(options.prepared / f"{split}.{language}"))
            rows.append([split, language, *count_side(lines, dictionaries[language])])
    sizes = ", ".join(f"{len(dictionary):,} tokens of {language}" for language, dictionary in dictionaries.items())
    # Their headings go down one level, below the heading of the whole report.
    before = ["\n".join(text for _, text in read_lines(file)).strip() for file in options.before]
    parts = [re.sub("^#", "##", text, flags=re.MULTILINE) for text in before]
    parts += [
        "## Prepared text",
        f"Dictionaries, made from the training text: {sizes}. Unknown is what they lack.",
        table(("part", "language", *COUNTED), rows),
    ]
    return "\n\n".join([f"# Data {'-'.join(languages)}", *parts]) + "\n"
