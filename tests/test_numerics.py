"""Numbers that change have another version, which is in the names of all results."""

import json

import pytest

from recurrent_mt import numerics
from tests.golden_numbers import RECORD, is_same, measure_scores, measure_synthetic, measure_text, measure_training

ADVICE = "raise {} in recurrent_mt/numerics.py, say so in the CHANGELOG, and call python -m tests.golden_numbers"


@pytest.mark.parametrize(
    ("kind", "version", "measure"),
    [
        ("text", numerics.TEXT, measure_text),
        ("synthetic", numerics.SYNTHETIC, measure_synthetic),
        ("training", numerics.TRAINING, measure_training),
        ("scores", numerics.SCORES, measure_scores),
    ],
)
def test_the_numbers_of_a_version_do_not_change(kind, version, measure):
    recorded = json.loads(RECORD.read_text(encoding="utf-8"))[kind]
    assert recorded["version"] == version, "call python -m tests.golden_numbers"
    found = measure()
    different = {key: (value, found.get(key)) for key, value in recorded["numbers"].items()}
    different = {key: pair for key, pair in different.items() if not is_same(*pair)}
    assert not different and found.keys() == recorded["numbers"].keys(), ADVICE.format(kind.upper())
