"""How many good lines of real text are taken for another language, and how many of another language are found."""

import lzma

import pytest

from recurrent_mt.characters import normalize
from recurrent_mt.data.language import is_other_language
from tests.data.tools import SHARED

SETS = {
    "multi30k/train": ("fr", "en"),
    "europarl-v7-fr-en/train": ("fr", "en"),
    "wmt-fr-en/newstest2013": ("fr", "en"),
    "wmt-zh-en/newstest2017": ("zh", "en"),
    "zh-en-train/news-commentary-zh-en-10k/train": ("zh", "en"),
    "zh-en-train/tatoeba-zh-en/train": ("zh", "en"),
}


def first_lines(name, language, count=4000):
    path = SHARED / f"{name}.{language}"
    if path.exists():
        lines = path.read_bytes().split(b"\n")[:-1]
    else:
        with lzma.open(f"{path}.xz") as file:
            lines = file.read().split(b"\n")[:-1]
    return [normalize(line.decode()) for line in lines[:: max(1, len(lines) // count)]]


@pytest.mark.parametrize("name", SETS)
def test_real_lines(name):
    if not SHARED.exists():
        pytest.skip("needs ../shared/data")
    for language, other in (SETS[name], SETS[name][::-1]):
        lines = first_lines(name, language)
        assert sum(is_other_language(line, language) for line in lines) <= 0.0006 * len(lines), language
        # Short lines in one alphabet for another are let through; another script never is.
        found = sum(is_other_language(line, other) for line in lines) / len(lines)
        assert found > (0.85 if other == "fr" or language == "fr" else 0.99), (language, found)
