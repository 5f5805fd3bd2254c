"""Cleans parallel text: writes the pairs worth training on to OUT.fr and OUT.en, and a report on what went and why.

Text is normalized (Unicode NFC, plain spaces, no control or zero-width characters). It drops pairs that have bytes that
are not UTF-8, are empty, long, identical, held out, of unlikely lengths, mostly numbers or markup, in another language,
misaligned, or seen before. The result does not depend on --jobs. No file appears until everything is done.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ..arguments import add_parallel_text_arguments, make_settings, natural
from ..data import cleaning, selection
from ..data.reports import as_markdown, count_side
from ..text_files import read_dictionary, read_lines, write_text

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def configure(parser: argparse.ArgumentParser) -> None:
    add_parallel_text_arguments(parser, several=True)
    parser.add_argument(
        "--exclude",
        type=Path,
        nargs="+",
        action="extend",
        default=[],
        metavar="PREFIX",
        help="held-out sets PREFIX.CODE: pairs whose source or target occurs there are dropped",
    )
    parser.add_argument(
        "--max-words",
        type=int,
        default=100,
        metavar="N",
        help="the most words on a side; in zh, 1.6 characters count as one (100)",
    )
    parser.add_argument(
        "--max-ratio",
        type=float,
        default=3.0,
        metavar="R",
        help="the most words on a side, as a multiple of the other side's (3.0)",
    )
    parser.add_argument(
        "--no-language-check", dest="language_check", action="store_false", help="keep lines in other languages; faster"
    )
    parser.add_argument("--examples", type=int, default=3, metavar="N", help="pairs shown for each rule (3)")


def run(options: argparse.Namespace) -> None:
    """Writes the pairs that are kept and the report."""
    languages = (options.source_lang, options.target_lang)
    files = {"sources": options.source, "targets": options.target}
    report = cleaning.clean(make_settings(cleaning.Cleaning, options, languages=languages, **files))
    print(f"{report['kept']:,} of {report['seen']:,} pairs kept; {options.report} tells why the others went.")


class Select:
    """Selects the sentence pairs most similar to a domain, by the difference of cross-entropies on both sides.

    Moore and Lewis (2010), Axelrod et al. (2011): how much better a language model of the domain predicts a pair than a
    model of a random sample of the corpus. Pairs are taken best first until there are WORDS source words (the papers'
    61M words of Europarl count one side) and written to OUT.fr and OUT.en in corpus order.
    """

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        add_parallel_text_arguments(parser)
        parser.add_argument(
            "--in-domain",
            type=Path,
            nargs="+",
            required=True,
            metavar="PREFIX",
            help="parallel text of the domain, PREFIX.CODE; never a test set",
        )
        parser.add_argument(
            "--words",
            type=parse_word_count,
            required=True,
            metavar="WORDS",
            help="source words, as in 348M: words and punctuation marks as a tokenizer separates them; in zh, "
            "characters",
        )
        parser.add_argument("--seed", type=natural, default=1, metavar="N", help="seed of the random sample (1)")

    @staticmethod
    def run(options: argparse.Namespace) -> None:
        languages = (options.source_lang, options.target_lang)
        counts = selection.select(make_settings(selection.Selection, options, languages=languages))
        print(
            f"{counts.selected_pairs:,} of {counts.pairs:,} pairs selected, {counts.selected_words:,} of "
            f"{counts.words:,} source words; see {options.report}."
        )


def parse_word_count(text: str) -> int:
    """A positive number, with K, M or G for thousands, millions or thousands of millions."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)", text.upper())
    number = round(float(match[1]) * _UNITS[match[2]]) if match else 0
    if not number:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of words: give one such as 500000, 20M, or 0.5G")
    return number


class DataReport:
    """Reports what a prepared corpus holds, after the reports of cleaning and selection."""

    @staticmethod
    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--prepared", required=True, type=Path, metavar="DIR", help="folder with SPLIT.LANG, segmented"
        )
        parser.add_argument("--dictionaries", required=True, type=Path, metavar="DIR", help="folder with dict.LANG.txt")
        parser.add_argument("--source-lang", required=True, metavar="LANG")
        parser.add_argument("--target-lang", required=True, metavar="LANG")
        parser.add_argument("--splits", nargs="+", default=["train", "valid", "test"], metavar="SPLIT")
        parser.add_argument("--before", nargs="*", default=[], type=Path, metavar="FILE", help="reports to put first")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")

    @staticmethod
    def run(options: argparse.Namespace) -> None:
        write_text(options.out, render_report(options))


def render_report(options: argparse.Namespace) -> str:
    """The report, in Markdown.

    Raises:
        FileError: if a file is missing or not UTF-8.
    """
    languages = (options.source_lang, options.target_lang)
    dictionaries = {language: read_dictionary(options.dictionaries / f"dict.{language}.txt") for language in languages}
    statistics = {}
    for split in options.splits:
        for language in languages:
            lines = (text for _, text in read_lines(options.prepared / f"{split}.{language}"))
            statistics[split, language] = count_side(lines, dictionaries[language])
    vocabularies = {language: len(dictionary) for language, dictionary in dictionaries.items()}
    # Their headings go down one level, below the heading of the whole report.
    before = ["\n".join(text for _, text in read_lines(file)).strip() for file in options.before]
    parts = [re.sub("^#", "##", text, flags=re.MULTILINE) for text in before]
    return "\n\n".join([f"# Data {'-'.join(languages)}", *parts, as_markdown(statistics, vocabularies)])
