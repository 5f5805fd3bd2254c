"""Gets parallel text: published corpora by their mtdata ids, or local files.

    recurrent-mt get find ID … --out SOURCES.json
    recurrent-mt get published ID --sources SOURCES.json --downloads DIR --pair fr-en --out FOLDER
    recurrent-mt get local PREFIX --pair fr-en --out FOLDER

find looks up the addresses in mtdata's index. published downloads one of them, or what is missing of it. local reads
PREFIX.fr and PREFIX.en, plain, .gz, .xz, or .bz2. Both write FOLDER/text.fr and FOLDER/text.en, one sentence per line.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator
from pathlib import Path

from ..arguments import language_pair
from ..data import published_sets
from ..data.parallel_text import read_pairs, write_pairs
from ..text_files import find_file, require_unchanged


def configure(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    finding = commands.add_parser("find", help="look up addresses")
    finding.set_defaults(get=find_corpora)
    finding.add_argument("identifiers", nargs="+", metavar="ID")
    getting = commands.add_parser("published", help="download one corpus")
    getting.set_defaults(get=get_published)
    getting.add_argument("identifier", metavar="ID")
    getting.add_argument("--sources", required=True, type=Path, metavar="FILE", help="what find wrote")
    getting.add_argument("--downloads", required=True, type=Path, metavar="DIR", help="where the files are kept")
    getting.add_argument(
        "--mirror", metavar="URL", help="take the files from URL/HOST/PATH instead of http://HOST/PATH"
    )
    reading = commands.add_parser("local", help="read local files")
    reading.set_defaults(get=get_local)
    reading.add_argument("prefix", metavar="PREFIX")
    reading.add_argument("--unchanged", nargs=2, metavar="CRC32", help="checksums that the files must have")
    for command in (getting, reading):
        command.add_argument("--pair", required=True, type=language_pair, metavar="SRC-TGT")
    for command in (finding, getting, reading):
        command.add_argument("--out", required=True, type=Path, metavar="PATH", help="what to write")


def run(options: argparse.Namespace) -> None:
    """Runs the subcommand given after ``get``."""
    options.get(options)


def find_corpora(options: argparse.Namespace) -> None:
    """Writes what mtdata knows of the corpora."""
    published_sets.save(published_sets.look_up(options.identifiers), options.out)


def get_published(options: argparse.Namespace) -> None:
    """Downloads and unpacks a corpus."""
    corpus = published_sets.load(options.sources, options.identifier)
    place = corpus.url.partition("://")[2]
    file = published_sets.fetch(corpus, options.downloads, options.mirror)
    with file.open("rb") as stream:
        print(f"{hashlib.file_digest(stream, 'sha256').hexdigest()}  {place}")
    pairs = published_sets.sentence_pairs(corpus, file, options.pair)
    count = write_pairs(pairs, options.out, options.pair)
    print(f"{corpus.identifier}: {count:,} pairs")


def get_local(options: argparse.Namespace) -> None:
    """Copies parallel text from local files."""
    count = write_pairs(read_local(options), options.out, options.pair)
    print(f"{options.prefix}: {count:,} pairs")


def read_local(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The pairs of local files.

    Raises:
        FileError: at the end, if a file has another checksum than is expected.
    """
    yield from read_pairs(options.prefix, options.pair)
    for language, expected in zip(options.pair, options.unchanged or (), strict=False):
        require_unchanged(find_file(options.prefix, language), expected)
