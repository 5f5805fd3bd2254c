import random

import numpy as np
import pytest
from nltk.lm import KneserNeyInterpolated

from recurrent_mt.data.ngrams import END, FIRST_WORD, START, UNKNOWN, NgramModel

SIZE = FIRST_WORD + 6


def sentences(count, seed=0):
    rng = random.Random(seed)
    words = range(FIRST_WORD, SIZE - 1)  # the last one never occurs
    return [[rng.choice([*words, UNKNOWN, FIRST_WORD]) for _ in range(rng.randint(0, 7))] for _ in range(count)]


def chain_probability(model, context, word):
    """p(word | context), level by level, in plain Python."""
    probability = 1 / (SIZE - 1)
    padded = [START] * (model.order - 1) + list(context)
    for length in range(1, model.order + 1):
        level = model._levels[length - 1]
        history = padded[len(padded) - (length - 1) :]
        context_number, known = 0, True
        if length > 1:
            context_number = history[0]
            for depth, other in enumerate(history[1:], start=1):
                key = context_number * SIZE + other
                places = np.flatnonzero(model._levels[depth].keys == key)
                known = known and len(places) > 0
                context_number = int(places[0]) if known else -1
        if not known:
            break
        places = np.flatnonzero(level.keys == context_number * SIZE + word)
        own = float(level.discounted[places[0]]) if len(places) else 0.0
        probability = own + float(level.backoff[context_number]) * probability
    return probability


@pytest.mark.parametrize(("order", "count"), [(1, 5), (2, 1), (3, 200), (4, 5)])
def test_probabilities_sum_to_one(order, count):
    model = NgramModel(sentences(count), SIZE, order=order)
    predicted = [word for word in range(SIZE) if word != START]
    for context in ([], [3], [3, 4], [SIZE - 1, 3], [UNKNOWN, 5, 6], [7, 7, 7, 7]):
        total = sum(chain_probability(model, context, word) for word in predicted)
        assert total == pytest.approx(1, abs=1e-9), context


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_sentences_are_products_of_words(order):
    model = NgramModel(sentences(100), SIZE, order=order)
    held_out = [*sentences(30, seed=1), [], [SIZE - 1] * 5]
    found = model.log_probabilities(held_out)
    for sentence, logarithm in zip(held_out, found, strict=True):
        words = [*sentence, END]
        expected = sum(np.log2(chain_probability(model, words[:place], word)) for place, word in enumerate(words))
        assert logarithm == pytest.approx(expected)


@pytest.mark.parametrize("order", [2, 3])
def test_nltk_agrees(order):
    """Given the same probabilities of single words, which nltk does not interpolate."""
    train = sentences(150)
    model = NgramModel(train, SIZE, order=order, discount=0.3)
    padded = [[*(START,) * (order - 1), *sentence, END] for sentence in train]
    ngrams = [
        tuple(map(str, line[start:stop]))
        for line in padded
        for stop in range(1, len(line) + 1)
        for start in range(max(0, stop - order), stop)
        if line[stop - 1] != START
    ]
    reference = KneserNeyInterpolated(order, discount=0.3)
    reference.fit([ngrams], vocabulary_text=map(str, range(SIZE)))
    uniform = 1 / (SIZE - 1)
    single = {str(w): model._levels[0].discounted[w] + model._levels[0].backoff[0] * uniform for w in range(SIZE)}
    reference.estimator.unigram_score = single.__getitem__
    for context in ([], [3], [3, 4], [5, UNKNOWN], [4, 4]):
        history = [str(word) for word in ([START] * order + context)[-(order - 1) :]]
        for word in (3, 4, 5, UNKNOWN, END):
            ours = chain_probability(model, context, word)
            assert ours == pytest.approx(reference.unmasked_score(str(word), tuple(history))), (context, word)


def test_counts_of_contexts_by_hand():
    """Bigrams of two sentences, discount 0.5: a b, a c."""
    a, b, c = FIRST_WORD, FIRST_WORD + 1, FIRST_WORD + 2
    model = NgramModel([[a, b], [a, c]], FIRST_WORD + 3, order=2, discount=0.5)
    # Different words before: a after the start; b and c after a; the end after b and c: 1, 1, 1, 2 of 5.
    single = {word: (count - 0.5) / 5 + 0.5 * 4 / 5 / 5 for word, count in {a: 1, b: 1, c: 1, END: 2}.items()}
    after_start = (2 - 0.5) / 2 + 0.5 * 1 / 2 * single[a]
    after_a = (1 - 0.5) / 2 + 0.5 * 2 / 2 * single[b]
    after_b = (1 - 0.5) / 1 + 0.5 * 1 / 1 * single[END]
    found = 2 ** model.log_probabilities([[a, b]])[0]
    assert found == pytest.approx(after_start * after_a * after_b)
