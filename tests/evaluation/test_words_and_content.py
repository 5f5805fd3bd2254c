import pytest

from recurrent_mt.evaluation.bucket_scores import ScoredSystem
from recurrent_mt.evaluation.content import content, count_repeated
from recurrent_mt.evaluation.differences import greatest_differences, sentence_scores
from recurrent_mt.evaluation.test_set import System
from recurrent_mt.evaluation.word_accuracy import labels, word_accuracy
from tests.evaluation.test_sets import perfect, small


def test_word_accuracy_by_hand():
    counts = {"the": 1000, "cat": 3, "sat": 1}
    translations = [["the", "the", "cat"], ["the", "dog"]]
    references = [["the", "cat", "sat"], ["the", "fish"]]
    never, once, few, often = word_accuracy(translations, references, counts, frequencies=(0, 1, 2, 100))
    assert (never.matches, never.translated, never.expected, never.f_measure) == (0, 1, 1, 0)
    assert (once.matches, once.translated, once.expected) == (0, 0, 1)
    assert once.precision is None and once.recall == 0
    assert few.f_measure == 1
    assert (often.precision, often.recall) == (pytest.approx(2 / 3), 1)
    assert labels((0, 1, 2, 5, 10)) == ["never seen", "1", "2–4", "5–9", "10 or more"]


@pytest.mark.parametrize("frequencies", [(), (1, 2), (0, 2, 2)])
def test_frequencies_must_increase_from_zero(frequencies):
    with pytest.raises(ValueError, match="must increase from 0"):
        word_accuracy([["a"]], [["a"]], {}, frequencies=frequencies)


@pytest.mark.parametrize(
    ("sentence", "repeated"),
    [("a b c", 0), ("a a", 1), ("a a a", 2), ("a b a b c", 2), ("a b a", 0), ("a b c d a b c d", 4), ("", 0)],
)
def test_repeated_stretches(sentence, repeated):
    assert count_repeated(sentence.split()) == repeated


def test_content_by_hand():
    references = [["the", "red", "cat", "."], ["the", "dog", "."]]
    translations = [["the", "cat", "cat", "."], ["the", "bird", "."]]
    result = content(translations, references, function_words=2)  # "the" and "."
    assert result.length_ratio == 1
    assert result.repeated == pytest.approx(1 / 7)
    assert result.repeated_in_reference == 0
    assert result.surplus == pytest.approx(1 / 3)  # the second cat, of cat cat bird
    assert result.dropped == pytest.approx(2 / 3)  # red and dog, of red cat dog


def test_content_of_nothing_is_unknown():
    result = content([[]], [[]])
    assert (result.length_ratio, result.repeated, result.dropped) == (None, None, None)


def test_greatest_differences():
    above, below = greatest_differences([10, 50, 30, 20], [20, 20, 30, 0], count=1)
    assert [(one.sentence, one.difference) for one in above] == [(1, 30)]
    assert [(one.sentence, one.difference) for one in below] == [(0, -10)]


def test_sentence_scores_are_those_of_one_sentence_files():
    test_set = small()
    system = System("x", {"1": ["a cat", "dog", "", "the black dog", "blue", "the big cat"]})
    scored = ScoredSystem(system, test_set, "chrf")
    from recurrent_mt.metrics import score

    for number, value in enumerate(sentence_scores(scored)):
        alone = score("chrf", [system.translations["1"][number]], [test_set.reference[number]])
        assert value == pytest.approx(alone.value)
    assert sentence_scores(ScoredSystem(perfect(test_set), test_set, "chrf")) == [pytest.approx(100)] * 6
