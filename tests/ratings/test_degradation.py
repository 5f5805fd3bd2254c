import random

import pytest

from recurrent_mt.ratings.degradation import count_replaced_words, degrade

LONG = [" ".join(f"other{i}-{j}" for j in range(20)) for i in range(5)]


@pytest.mark.parametrize(
    ("words", "replaced"),
    [(1, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 3), (8, 4), (14, 4), (15, 5), (19, 5), (20, 5), (24, 6), (41, 10)],
)
def test_how_many_words_are_replaced(words, replaced):
    assert count_replaced_words(words) == replaced


@pytest.mark.parametrize("words", [3, 4, 5, 8, 14, 20, 33])
def test_one_stretch_inside_the_first_and_last_word_is_replaced(words):
    original = [f"word{i}" for i in range(words)]
    for seed in range(20):
        degraded = degrade(" ".join(original), LONG, random.Random(seed)).split()
        changed = [i for i, (old, new) in enumerate(zip(original, degraded, strict=True)) if old != new]
        assert changed == list(range(changed[0], changed[0] + count_replaced_words(words)))
        assert changed[0] >= 1
        assert changed[-1] <= words - 2
        stretch = " ".join(degraded[i] for i in changed)
        assert any(f" {stretch} " in donor for donor in LONG), "a stretch of one sentence, without its ends"


def test_every_place_is_taken_at_times():
    starts = set()
    for seed in range(50):
        words = degrade("a b c d e f g h", LONG, random.Random(seed)).split()
        starts.add(next(i for i, word in enumerate(words) if word.startswith("other")))
    assert starts == {1, 2, 3}


@pytest.mark.parametrize(("text", "kept"), [("one", []), ("one two", ["one"])])
def test_the_shortest_translations(text, kept):
    assert degrade(text, LONG, random.Random(0)).split()[:-1] == kept


def test_spaces_around_the_stretch_stay():
    assert degrade("a  b\tc", ["x y z"], random.Random(0)) == "a  y\tc"


def test_chinese_words_are_characters():
    degraded = degrade("他在公园里看书。", ["我们昨天去了北京。"], random.Random(0))
    assert len(degraded) == len("他在公园里看书。")
    assert degraded[0] == "他"
    assert sum(old != new for old, new in zip("他在公园里看书。", degraded)) in (3, 4)


def test_the_same_words_do_not_count_as_other_ones():
    assert degrade("a b c", ["x B y"], random.Random(0)) is None
    assert degrade("a b c", ["x B y", "x z y"], random.Random(0)) == "a z c"


def test_too_short_sentences_are_passed_over():
    assert degrade("a b c d", ["x y", "p q r s"], random.Random(0)) == "a q r d"
    assert degrade("a b c d", ["x y", "p q r"], random.Random(0)) is None


def test_an_empty_translation_cannot_be_degraded():
    assert degrade(" ", LONG, random.Random(0)) is None
