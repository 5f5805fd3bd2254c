from itertools import permutations

import pytest

from recurrent_mt.evaluation import words
from recurrent_mt.evaluation.words import (
    CONTENT_IN_REFERENCES,
    DROPPED,
    F_MEASURE,
    LENGTH_RATIO,
    PRECISION,
    RECALL,
    REPEATED,
    REPEATED_IN_REFERENCES,
    SURPLUS,
    choose_ngrams,
    compare_ngrams,
    count_repeated,
    ngram_table,
    score_content,
    score_words,
)


def test_word_accuracy_by_hand():
    counts = {"the": 1000, "cat": 3, "sat": 1}
    translations = [["the", "the", "cat"], ["the", "dog"]]
    references = [["the", "cat", "sat"], ["the", "fish"]]
    records = list(score_words("x", translations, references, counts))
    found = {(one.bucket, one.metric): one for one in records}
    assert [found["never seen", metric].value for metric in (F_MEASURE, PRECISION, RECALL)] == [0, 0, 0]
    assert [found["1", metric].n for metric in (PRECISION, RECALL)] == [0, 1]
    assert (found["1", PRECISION].value, found["1", RECALL].value) == (None, 0)
    assert found["2–4", F_MEASURE].value == 100
    often = [found["1000 or more", metric].value for metric in (PRECISION, RECALL)]
    assert often == [pytest.approx(200 / 3), 100]


@pytest.mark.parametrize(
    ("sentence", "repeated"),
    [("a b c", 0), ("a a", 1), ("a a a", 2), ("a b a b c", 2), ("a b a", 0), ("a b c d a b c d", 4), ("", 0)],
)
def test_repeated_stretches(sentence, repeated):
    assert count_repeated(sentence.split()) == repeated


def test_content_by_hand(monkeypatch):
    monkeypatch.setattr(words, "FUNCTION_WORDS", 2)  # "the" and "."
    references = [["the", "red", "cat", "."], ["the", "dog", "."]]
    translations = [["the", "cat", "cat", "."], ["the", "bird", "."]]
    records = score_content("x", translations, references)
    result = {record.metric: record.value for record in records}
    assert result[LENGTH_RATIO] == 1
    assert result[REPEATED] == pytest.approx(100 / 7)
    assert result[REPEATED_IN_REFERENCES] == 0
    assert result[SURPLUS] == pytest.approx(100 / 3)  # the second cat, of cat cat bird
    assert result[DROPPED] == pytest.approx(200 / 3)  # red and dog, of red cat dog
    assert result[CONTENT_IN_REFERENCES] == pytest.approx(300 / 7)


def test_content_does_not_depend_on_the_order_of_sentences(monkeypatch):
    monkeypatch.setattr(words, "FUNCTION_WORDS", 1)
    pairs = [(["a", "x"], ["a", "b"]), (["c"], ["c", "d"]), (["b", "d", "d"], ["d", "b"])]
    found = []
    for order in permutations(pairs):
        translations, references = zip(*order)
        found.append(list(score_content("x", translations, references)))
    assert all(records == found[0] for records in found)


def test_content_of_nothing_is_unknown():
    assert {record.value for record in score_content("x", [[]], [[]])} == {None}


def test_ngrams_that_one_system_gets_right_by_hand():
    references = [text.split() for text in ("a b c", "a b c", "x y")]
    mine = [text.split() for text in ("a b c", "a b c", "x x")]
    other = [text.split() for text in ("c b a", "a b", "x y")]
    ngrams = compare_ngrams(mine, other, references)
    found = {" ".join(one.words): (one.matches, one.other_matches, one.expected, one.share) for one in ngrams}
    assert found == {
        "a b c": (2, 0, 2, 3 / 4),
        "b c": (2, 0, 2, 3 / 4),
        "a b": (2, 1, 2, 3 / 5),
        "c": (2, 1, 2, 3 / 5),
        "x y": (0, 1, 1, 1 / 3),
        "y": (0, 1, 1, 1 / 3),
    }
    # What stands within another of the same counts is not chosen, nor what is right once.
    chosen = choose_ngrams(ngrams, 10)
    assert [" ".join(one.words) for one in chosen] == ["a b c", "a b", "c"]
    assert choose_ngrams(ngrams, 1) == chosen[:1] and choose_ngrams(compare_ngrams(other, mine, references), 10) == []
    table = ngram_table(chosen, "mine", "other")
    assert [[name, *map(str, row)] for name, row in zip(table.names, table.rows)][1] == ["a b", "2", "1", "2"]
