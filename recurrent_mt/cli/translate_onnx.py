"""Translates with a model that recurrent-mt export has written, without fairseq and PyTorch.

    recurrent-mt translate-onnx FOLDER <test.fr >test.en

Reads one sentence per line, split into the words or subwords that the model was trained on, and writes its best
translation, split in the same way. The search is fairseq-generate's. Needs the package onnxruntime.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..text_files import read_sentences, read_standard_input, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, help="folder written by recurrent-mt export")
    parser.add_argument("--input", type=Path, help="text file to translate (default: standard input)")
    parser.add_argument("--out", type=Path, help="text file to write (default: standard output)")
    parser.add_argument("--beam", type=int, default=5, help="hypotheses per sentence (default: 5)")
    parser.add_argument("--lenpen", type=float, default=1.0, help="length penalty, as in fairseq-generate (default: 1)")
    parser.add_argument("--max-words", type=int, default=200, help="longest translation (default: 200)")
    parser.add_argument("--batch", type=int, default=32, help="sentences translated at a time (default: 32)")
    parser.add_argument("--threads", type=int, default=0, help="processor threads (default: as many as cores)")


def run(options: argparse.Namespace) -> None:
    """Writes the translations."""
    for name in ("beam", "batch", "max_words"):
        if getattr(options, name) < 1:
            options.parser.error(f"--{name.replace('_', '-')} must be at least 1, not {getattr(options, name)}")
    from ..onnx_translation import OnnxModel, translate

    model = OnnxModel(options.model, threads=options.threads)
    sentences = read_sentences(options.input) if options.input else list(read_standard_input())
    found = translate(
        model,
        sentences,
        batch=options.batch,
        beam=options.beam,
        length_penalty=options.lenpen,
        max_words=options.max_words,
    )
    text = "".join(f"{hypotheses[0].text(model)}\n" for hypotheses in found)
    if options.out:
        write_text(options.out, text)
    else:
        sys.stdout.write(text)
