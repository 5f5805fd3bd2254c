"""The level of the paired test: how often it tells equal systems apart, on translations that two models have made."""

import subprocess

import numpy as np
import pytest

from recurrent_mt.metrics import (
    SentenceStatistics,
    randomization_p_value,
    statistics,
)
from tests.commands import command_line
from tests.data.tools import SHARED
from tests.once import build_once

SENTENCES, TRIALS = 400, 2000
TEXT = SHARED / "europarl-v7-fr-en"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def translated(tmp_path_factory):
    """References, and the translations of two models in the box that are 2 BLEU apart."""
    if not TEXT.exists():
        pytest.skip("needs ../shared/data")

    def build(folder):
        sources, references = (
            (TEXT / f"dev.{language}").read_text(encoding="utf-8").split("\n")[:SENTENCES] for language in ("fr", "en")
        )
        (folder / "input").write_text("\n".join(sources) + "\n", encoding="utf-8")
        systems = []
        for model in ("gru", "grconv"):
            words = "translate", "fr-en", model, "--input", folder / "input", "--out", folder / model
            subprocess.run(command_line("recurrent-mt", *map(str, words)), check=True)
            systems.append((folder / model).read_text(encoding="utf-8").splitlines())
        return references, systems

    return build_once(tmp_path_factory, "translated", build)


def equal_systems(counts, size, trials):
    """Pairs that differ by chance alone: some of the sentences, each exchanged between the two or not."""
    generator = np.random.default_rng(1)
    for _ in range(trials):
        sentences = generator.permutation(SENTENCES)[:size]
        one, other = (system.rows[sentences] for system in counts)
        exchanged = generator.integers(2, size=(size, 1), dtype=bool)
        mixed = np.where(exchanged, other, one), np.where(exchanged, one, other)
        yield [SentenceStatistics(counts[0].metric, rows) for rows in mixed]


def count_statistics(metric, translated):
    references, systems = translated
    return [statistics(metric, lines, references) for lines in systems]


@pytest.mark.parametrize("size", [10, SENTENCES // 2])
@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_randomization_keeps_its_level(metric, size, translated):
    counts = count_statistics(metric, translated)
    # With the same draws for all, what they have by chance would be in all p-values.
    pairs = enumerate(equal_systems(counts, size, TRIALS))
    p_values = np.array([randomization_p_value([one], [other], trials=1000, seed=seed) for seed, (one, other) in pairs])
    at_five, at_one = (100 * np.mean(p_values < level) for level in (0.05, 0.01))
    print(f"{metric}, {size} sentences: p < 0.05 for {at_five:.2f}%, p < 0.01 for {at_one:.2f}%")
    assert 4 <= at_five <= 6 and 0.5 <= at_one <= 1.5
