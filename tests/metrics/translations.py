"""A made-up test set with translations of three qualities, the same on every call."""

import random

WORDS = [
    "the",
    "a",
    "small",
    "red",
    "house",
    "dogs",
    "dog",
    "run",
    "runs",
    "running",
    "in",
    "park",
    "“yes”",
    ",",
    "1990",
]


def references(count=30, *, seed=1):
    """Sentences of 1 to 14 words."""
    generator = random.Random(seed)
    return [" ".join(generator.choices(WORDS, k=generator.randint(1, 14))) + "." for _ in range(count)]


def translations(sentences, *, errors, seed=2):
    """The sentences with a share of their words replaced, and some pairs of words exchanged."""
    generator = random.Random(seed)
    results = []
    for sentence in sentences:
        words = [generator.choice(WORDS) if generator.random() < errors else word for word in sentence.split()]
        if len(words) > 3 and generator.random() < errors:
            words[1], words[2] = words[2], words[1]
        results.append(" ".join(words))
    return results
