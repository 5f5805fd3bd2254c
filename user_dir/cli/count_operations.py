"""Counts a model's arithmetic per target token."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from recurrent_mt.arguments import positive
from recurrent_mt.text_files import check_output_files, write_text

from ..checkpoints.checkpoint import Checkpoint
from ..checkpoints.inspection import count_operations


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", required=True, help="checkpoint of the model")
    parser.add_argument("--data", required=True, help="folder of binarized data with a test split")
    parser.add_argument(
        "--sentences", type=positive, default=50, help="how many sentences to count on, the first of the test set"
    )
    parser.add_argument("--out", help="JSON file to write")


def run(options: argparse.Namespace) -> None:
    """Prints the count, and writes it to the file."""
    check_output_files([options.checkpoint], filter(None, [options.out]))
    checkpoint = Checkpoint(options.checkpoint, options.data)
    counted = count_operations(checkpoint, *read_first_pairs(checkpoint, options.sentences))
    if options.out:
        write_text(options.out, json.dumps({**asdict(counted), "per_token": counted.per_token}) + "\n")
    print(f"{counted.per_token:,.0f} operations a target token, over {counted.sentences} sentences")


def read_first_pairs(checkpoint: Checkpoint, count: int) -> tuple[list[str], list[str]]:
    """The first sentences of the test set, as tokens."""
    task = checkpoint.task
    task.load_dataset("test")
    pairs = task.dataset("test")
    numbers = range(min(count, len(pairs)))
    return (
        [task.source_dictionary.string(pairs.src[number]) for number in numbers],
        [task.target_dictionary.string(pairs.tgt[number]) for number in numbers],
    )
