"""A small text of the synthetic corpus and vectors of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from recurrent_mt.data.synthetic import generate
from recurrent_mt.data.word_vectors import TrainingText, WordVectors, frequent_words, train_skip_gram
from tests.once import build_once


@pytest.fixture(scope="session")
def settings() -> dict[str, int]:
    """Arguments of train_skip_gram for a text as small as this."""
    return {"size": 32, "window": 5, "negatives": 5, "epochs": 10, "seed": 1, "workers": 1}


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train.src (French) and train.tgt (English), 8,000 sentences."""

    def build(folder: Path) -> Path:
        # Their trees are not kept: Python's garbage collector would look at each of their objects again and again.
        pairs = generate("fr-en", {"train": 8000}, seed=3)
        lines = [(" ".join(pair.source_tokens), " ".join(pair.target_tokens)) for pair in pairs]
        for ending, side in zip(("src", "tgt"), zip(*lines)):
            (folder / f"train.{ending}").write_text("\n".join(side) + "\n", encoding="utf-8")
        return folder

    return build_once(tmp_path_factory, "embeddings", build)


@pytest.fixture(scope="session")
def text(corpus: Path) -> TrainingText:
    path = corpus / "train.src"
    return TrainingText([path], frequent_words([path], 3))


@pytest.fixture(scope="session")
def vectors(text: TrainingText, settings: dict[str, int], tmp_path_factory: pytest.TempPathFactory) -> WordVectors:
    pytest.importorskip("gensim", reason="gensim has no release for this Python")
    return build_once(tmp_path_factory, "vectors", lambda _: train_skip_gram(text, **settings))
