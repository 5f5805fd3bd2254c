"""Translates long sentences in segments: cuts each one where that costs least, translates the pieces, and joins them.

The input is tokens like those that the forward model was trained on, one sentence per line; no cut divides a word whose
subwords have the marks of BPE or SentencePiece. DIR holds the dictionaries of both languages. For each mode,
OUT/MODE.txt gets the translations, and OUT/MODE.jsonl gets the segments of each sentence with their costs.

Every span of up to --max-span words is translated. A mode says what a span costs: default, the forward model's negative
log-probability; rev, the mean of the forward and the inverse model's; norm and normrev, the same divided by the
logarithm of the span's length. After Pouget-Abadie et al. (2014), arXiv 1409.1257, and their released code, which
searches with --shrinking-beam.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from recurrent_mt.arguments import positive
from recurrent_mt.text_files import check_output_files, read_lines, write_aside

from ..segmented_translation.segmentation import (
    MODES,
    SegmentedTranslation,
    SpanOptions,
    SpanTable,
    Words,
    group_subwords,
    translate_by_segments,
)
from ..segmented_translation.translation import (
    ForwardTranslator,
    InverseScorer,
    check_inverse,
    load_system,
    translate_spans,
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options, with fairseq-generate's names where it has them."""
    path: dict[str, Any] = {"metavar": "PATH"}
    folder: dict[str, Any] = {"metavar": "DIR"}
    number: dict[str, Any] = {"type": positive, "metavar": "N"}
    add = parser.add_argument
    add("--forward", required=True, **path, help="checkpoint, or several joined by colons")
    add("--inverse", **path, help="checkpoint of the opposite direction, for rev and normrev")
    add("--data", required=True, **folder, help="folder with the dictionaries, dict.LANG.txt")
    add("--inverse-data", **folder, help="the inverse model's, if different")
    add("--input", required=True, metavar="FILE", help="tokens, one sentence per line")
    add("--out", required=True, **folder, help="folder for the translations and cuts")
    add("--mode", choices=[*MODES, "all"], default="all", help="what a span costs (all)")
    add("--max-span", **number, default=20, help="words in a span (20)")
    add("--beam", **number, default=10, help="beam size of the search (10)")
    add("--candidates", **number, help="translations of a span that the inverse model scores (10, at most --beam)")
    add("--shrinking-beam", action="store_true", help="search as the papers' released code does")
    penalty = "penalty of <unk> in translations; inf forbids it (0)"
    add("--unkpen", type=read_penalty, default=0.0, metavar="X", help=penalty)
    add("--copy-unknown-words", action="store_true", help="cut around unknown words and copy them")
    add("--add-period", action="store_true", help="translate every span with a period after it")
    add("--batch-size", **number, default=128, help="spans searched at a time (128)")
    add("--max-tokens", **number, default=4000, help="tokens in a batch (4000)")
    add("--buffer-size", **number, default=32, help="sentences whose spans are sorted and translated together (32)")
    add("--cpu", action="store_true", help="do not use the GPU")


def read_penalty(text: str) -> float:
    """Reads a penalty: a number, or inf."""
    value = float(text)
    if math.isnan(value) or value == -math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number, nor inf")
    return value


def run(options: argparse.Namespace) -> None:
    """Translates, and writes the translations and the cuts of each mode."""
    modes = list(MODES) if options.mode == "all" else [options.mode]
    inverse = any(MODES[mode].inverse for mode in modes)
    if inverse and not options.inverse:
        needed = f"--mode {options.mode} needs the inverse model"
        options.parser.error(f"{needed}: give --inverse, or --mode default or norm")
    if not inverse and (options.inverse or options.inverse_data):
        options.parser.error(f"--mode {options.mode} has no use for an inverse model")
    if options.candidates is None:
        options.candidates = min(10, options.beam)
    if options.candidates > options.beam:
        options.parser.error(f"--candidates {options.candidates} are more than a search with --beam {options.beam} has")
    read = [
        options.input,
        *(path for paths in (options.forward, options.inverse) if paths for path in paths.split(":")),
    ]
    check_output_files(read, (Path(options.out) / name for name in file_names(modes)))
    sentences = group_subwords([text.split() for _, text in read_lines(options.input)])
    table = build_table(options, inverse=inverse)
    write_modes(Path(options.out), modes, translate(sentences, modes, table, options.buffer_size))


def build_table(options: argparse.Namespace, *, inverse: bool) -> SpanTable:
    """Loads the models for an empty table of spans."""
    common = {"cpu": options.cpu, "max_sentences": options.batch_size, "max_tokens": options.max_tokens}
    system = load_system(options.forward, options.data, shrinking_beam=options.shrinking_beam, **common)
    forward = ForwardTranslator(system, beam=options.beam, count=options.candidates, unknown_penalty=options.unkpen)
    scorer = None
    if inverse:
        back = load_system(options.inverse, options.inverse_data or options.data, **common)
        check_inverse(system, back)
        scorer = InverseScorer(back)
    settings = SpanOptions(options.max_span, options.copy_unknown_words, options.add_period)
    return SpanTable(partial(translate_spans, forward=forward, inverse=scorer), forward.is_unknown, settings)


def translate(
    sentences: Sequence[Words], modes: Sequence[str], table: SpanTable, buffer_size: int
) -> Iterator[dict[str, SegmentedTranslation]]:
    """Translates each sentence in each mode."""
    for start in range(0, len(sentences), buffer_size):
        buffer = sentences[start : start + buffer_size]
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
