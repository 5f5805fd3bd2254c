"""Chooses a model's learning rate by validation loss, and prints the seed of the search and the rate.

FOLDER has a training run in seed-S/R for each rate; the choice is kept in FOLDER/choice.json.
"""

from __future__ import annotations

import argparse

from ..runs.rates import choose_rate


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, required=True, help="seed of the training runs")
    parser.add_argument("--rates", required=True, help="comma-separated, as in the folder names")


def run(options: argparse.Namespace) -> None:
    """Prints the choice."""
    choice = choose_rate(options.folder, seed=options.seed, rates=options.rates.split(","))
    print(choice.seed, choice.chosen)
