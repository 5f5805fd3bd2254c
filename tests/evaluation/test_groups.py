import pytest

from recurrent_mt.evaluation.scores import by_length, by_unknown_words, by_window, known_sentences, within_length
from recurrent_mt.evaluation.translated_files import UnknownWords
from tests.evaluation.test_sets import small


def sizes(bucketing):
    return {label: list(sentences) for label, sentences in bucketing.buckets.items()}


def test_length_groups_by_source_and_reference():
    test_set = small()
    assert sizes(by_length(test_set, "source", (2, 3, 6))) == {
        "1–2": [0, 4, 5], "3": [1], "4–6": [2], "over 6": [3]
    }  # fmt: skip
    assert sizes(by_length(test_set, "reference", (2, 6))) == {"1–2": [0, 4], "3–6": [1, 2, 5], "over 6": [3]}


def test_both_sides_have_to_agree():
    bucketing = by_length(small(), "both", (2, 6))
    assert sizes(bucketing) == {"1–2": [0, 4], "3–6": [1, 2], "over 6": [3]}


def test_a_sentence_without_words_is_in_a_group_of_its_own():
    words = [[], ["a"], ["a", "b", "c"], [], ["a"], ["a"] * 9]
    expected = {"0": [0, 3], "1–2": [1, 4], "3–6": [2], "over 6": [5]}
    test_set = small(source_words=words)
    assert sizes(by_length(test_set, "source", (2, 6))) == sizes(by_length(test_set, "source", (0, 2, 6))) == expected
    assert "0" not in by_length(small(source_words=[[]] * 6), "both", (2, 6)).buckets
    # Neither where the other side has words, nor does it depend on the other sentences.
    one_side_empty = small(source_words=[[], *words[1:]], reference_words=[["a"], [], ["a"] * 3, [], ["a"], ["a"] * 9])
    assert sizes(by_length(one_side_empty, "both", (2, 6))) == {"0": [3], "1–2": [4], "3–6": [2], "over 6": [5]}
    assert "0" not in by_length(test_set, "reference", (2, 6)).buckets


@pytest.mark.parametrize("limits", [(), (5, 5), (6, 5), (-1, 3)])
def test_limits_must_increase(limits):
    with pytest.raises(ValueError, match="must increase"):
        by_length(small(), "source", limits)


def test_unknown_words_by_side():
    unknown = UnknownWords([0, 1, 2, 7, 0, 0], [0, 0, 3, 1, 0, 1])
    assert sizes(by_unknown_words(unknown, "source", 2)) == {"0": [0, 4, 5], "1": [1], "2 or more": [2, 3]}
    assert sizes(by_unknown_words(unknown, "either", 3)) == {"0": [0, 4], "1": [1, 5], "2": [], "3 or more": [2, 3]}
    assert sizes(known_sentences(unknown)) == {"all": [0, 1, 2, 3, 4, 5], "no unknown word": [0, 4]}
    like = within_length(by_unknown_words(unknown, "either", 3), small(), 2, 6)
    assert (like.by, like.group, like.side) == ("unknown words, either, 2–6 words", "unknown words", "either")
    assert sizes(like) == {"0": [0], "1": [1, 5], "2": [], "3 or more": [2]}


def test_windows_cover_the_lengths_they_say():
    test_set = small(copies=10)
    points = sizes(by_window(test_set, "source", window=3, fewest=1))
    lengths = [len(words) for words in test_set.source_words]
    for middle, members in points.items():
        assert members == [i for i, length in enumerate(lengths) if abs(length - int(middle)) <= 1]
    assert list(points)[-1] == "8"
    longer = small(source_words=[["a"] * 6] * 6)
    assert list(sizes(by_window(longer, "source", fewest=1))) == ["6"], "not at lengths that no sentence has"
    assert set(sizes(by_window(test_set, "source", window=1, fewest=20))) == {"2"}
    both = sizes(by_window(test_set, "both", window=10, fewest=1))
    assert all(5 not in [i % 6 for i in members] for n, members in both.items() if int(n) + 5 < 4)
