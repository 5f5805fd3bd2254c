import pytest

from recurrent_mt.data.synthetic import PAIRS, Example, generate


@pytest.fixture(scope="package")
def corpora() -> dict[str, dict[str, list[Example]]]:
    """A small corpus of each language pair: its examples by split."""
    made = {}
    for pair in PAIRS:
        made[pair] = {"train": [], "valid": [], "test": []}
        for example in generate(pair, {"train": 2000, "valid": 100, "test": 200}, seed=3):
            made[pair][example.split].append(example)
    return made


@pytest.fixture(scope="package", params=PAIRS)
def pair(request) -> str:
    return request.param


@pytest.fixture(scope="package")
def corpus(corpora, pair) -> dict[str, list[Example]]:
    return corpora[pair]


@pytest.fixture(scope="package")
def examples(corpus) -> list[Example]:
    return [example for split in corpus.values() for example in split]
