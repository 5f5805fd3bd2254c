import gc

import pytest

from recurrent_mt.data.synthetic import PAIRS, Example, generate


@pytest.fixture(scope="package")
def corpora() -> dict[str, dict[str, list[Example]]]:
    """A small corpus of each language pair: its examples by split.

    Python's garbage collector leaves them alone: it would look at each of a million objects again and again.
    """
    gc.disable()
    made = {}
    for pair in PAIRS:
        made[pair] = {"train": [], "valid": [], "test": []}
        for example in generate(pair, {"train": 4000, "valid": 200, "test": 400}, seed=3):
            made[pair][example.split].append(example)
    gc.freeze()
    gc.enable()
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
