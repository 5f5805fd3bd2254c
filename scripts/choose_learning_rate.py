#!/usr/bin/env python3
"""Chooses a model's learning rate by validation loss, once, and prints the seed of the search and the rate.

python scripts/choose_learning_rate.py FOLDER --seed S --rates R,R

FOLDER has a training in seed-S/R for each rate; the choice stays in FOLDER/choice.json.
"""

import argparse
import sys

from recurrent_mt.evaluation.learning_rates import choose_rate


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, required=True, help="of the trainings")
    parser.add_argument("--rates", required=True, help="comma-separated, as the folders are called")
    arguments = parser.parse_args()
    try:
        choice = choose_rate(arguments.folder, seed=arguments.seed, rates=arguments.rates.split(","))
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(choice.seed, choice.chosen)


if __name__ == "__main__":
    main()
