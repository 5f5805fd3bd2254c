"""Translates long sentences in segments: cuts each one where that costs least, translates the pieces, and joins them.

The input is tokens like those that the forward model was trained on, one sentence per line; no cut divides a word whose
subwords have the marks of BPE or SentencePiece. DIR holds the dictionaries of both languages. For each mode,
OUT/MODE.txt gets the translations, and OUT/MODE.jsonl gets the segments of each sentence with their costs.

Every span of up to --max-span words is translated. A mode says what a span costs: default, the forward model's negative
log-probability; rev, the mean of the forward and the inverse model's; norm and normrev, the same divided by the
logarithm of the span's length. Without --inverse, there are default and norm. After Pouget-Abadie et al. (2014),
arXiv 1409.1257.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from recurrent_mt.arguments import positive
from recurrent_mt.text_files import check_output_files, read_lines, write_aside

from ..checkpoints.checkpoint import Checkpoint
from ..segmented_translation import (
    MODES,
    ForwardTranslator,
    InverseScorer,
    SegmentedTranslation,
    SpanTable,
    Words,
    check_inverse,
    group_subwords,
    translate_by_segments,
    translate_spans,
)

#: How many sentences' spans are sorted and translated together.
BUFFER_SIZE = 32


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options, with fairseq-generate's names where it has them."""
    path: dict[str, Any] = {"type": Path, "metavar": "PATH"}
    folder: dict[str, Any] = {"type": Path, "metavar": "DIR"}
    number: dict[str, Any] = {"type": positive, "metavar": "N"}
    add = parser.add_argument
    add("--forward", required=True, **path, help="checkpoint")
    add("--inverse", **path, help="checkpoint of the opposite direction, for rev and normrev")
    add("--data", required=True, **folder, help="folder with the dictionaries, dict.LANG.txt")
    add("--inverse-data", **folder, help="the inverse model's, if different")
    add("--input", required=True, metavar="FILE", help="tokens, one sentence per line")
    add("--out", required=True, **folder, help="folder for the translations and cuts")
    add("--max-span", **number, default=20, help="words in a span (20)")
    add("--beam", **number, default=10, help="beam size of the search (10)")
    penalty = "penalty of <unk> in translations; inf forbids it (0)"
    add("--unkpen", type=float, default=0.0, metavar="X", help=penalty)


def run(options: argparse.Namespace) -> None:
    """Translates, and writes the translations and the cuts of each mode."""
    modes = [name for name, mode in MODES.items() if options.inverse or not mode.inverse]
    read = [options.input, *filter(None, [options.forward, options.inverse])]
    check_output_files(read, (options.out / name for name in file_names(modes)))
    sentences = group_subwords([text.split() for _, text in read_lines(options.input)])
    write_modes(options.out, modes, translate(sentences, modes, build_table(options)))


def build_table(options: argparse.Namespace) -> SpanTable:
    """Loads the models for an empty table of spans."""
    there, scorer = Checkpoint(options.forward, options.data), None
    if options.inverse:
        back = Checkpoint(options.inverse, options.inverse_data or options.data)
        check_inverse(there, back)
        scorer = InverseScorer(back)
    forward = ForwardTranslator(there, beam=options.beam, unknown_penalty=options.unkpen)
    return SpanTable(partial(translate_spans, forward=forward, inverse=scorer), options.max_span)


def translate(
    sentences: Sequence[Words], modes: Sequence[str], table: SpanTable
) -> Iterator[dict[str, SegmentedTranslation]]:
    """Translates each sentence in each mode."""
    for start in range(0, len(sentences), BUFFER_SIZE):
        buffer = sentences[start : start + BUFFER_SIZE]
        table.add(buffer)
        print(f"{start + len(buffer)} of {len(sentences)} sentences, {len(table)} spans", file=sys.stderr, flush=True)
        for sentence in buffer:
            yield {mode: translate_by_segments(sentence, table, MODES[mode]) for mode in modes}


def file_names(modes: Sequence[str]) -> list[str]:
    """Both files of each mode."""
    return [f"{mode}{suffix}" for mode in modes for suffix in (".txt", ".jsonl")]


def write_modes(folder: Path, modes: Sequence[str], results: Iterator[dict[str, SegmentedTranslation]]) -> None:
    """Writes both files of each mode; they get their names once all sentences are in them."""
    names = file_names(modes)
    with ExitStack() as stack:
        files: dict[str, TextIO] = {}
        for name in names:
            aside = stack.enter_context(write_aside(folder / name))
            files[name] = stack.enter_context(aside.open("w", encoding="utf-8"))
        for number, by_mode in enumerate(results, start=1):
            for mode, result in by_mode.items():
                record = {"line": number, **result.as_record()}
                files[f"{mode}.txt"].write(result.text + "\n")
                files[f"{mode}.jsonl"].write(json.dumps(record, ensure_ascii=False) + "\n")
    for name in names:
        print(folder / name)
