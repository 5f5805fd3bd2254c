#!/usr/bin/env python3
"""Counts the arithmetic of a model for a target token: python scripts/count_operations.py --checkpoint C --data D."""

import argparse
import json
import sys
from dataclasses import asdict

from recurrent_mt.text_files import write_text
from user_dir.checkpoints.checkpoint import Checkpoint
from user_dir.checkpoints.operations import count_operations


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--data", required=True, help="folder of binarised data, with its split test")
    parser.add_argument("--sentences", type=int, default=50, help="first sentences of the test set to count on")
    parser.add_argument("--out", help="JSON file to write")
    arguments = parser.parse_args()
    try:
        checkpoint = Checkpoint(arguments.checkpoint, arguments.data)
        counted = count_operations(checkpoint, *first_pairs(checkpoint, arguments.sentences))
        if arguments.out:
            write_text(arguments.out, json.dumps({**asdict(counted), "per_token": counted.per_token}) + "\n")
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"{counted.per_token:,.0f} operations a target token, over {counted.sentences} sentences")


def first_pairs(checkpoint: Checkpoint, count: int) -> tuple[list[str], list[str]]:
    """The first sentences of the test set, as tokens."""
    task = checkpoint.task
    task.load_dataset("test")
    pairs = task.dataset("test")
    numbers = range(min(count, len(pairs)))
    return (
        [task.source_dictionary.string(pairs.src[number]) for number in numbers],
        [task.target_dictionary.string(pairs.tgt[number]) for number in numbers],
    )


if __name__ == "__main__":
    main()
