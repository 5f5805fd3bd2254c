import random
from collections import Counter

import pytest

from recurrent_mt.ratings.sampling import DISTANCE, RatedTexts, Sample, count_replaced_words, degrade, sample_screens
from tests.ratings.studies import SENTENCES, make_corpus, make_study

LONG = [" ".join(f"other{i}-{j}" for j in range(20)) for i in range(5)]


def kinds(screens):
    return Counter(item.kind for screen in screens for item in screen.items)


def items_by_identifier(screens):
    return {item.identifier: item for screen in screens for item in screen.items}


def test_one_screen_a_sentence_side_by_side():
    screens = make_study(repeats=0, degraded=0).screens
    assert len({screen.sentence for screen in screens}) == len(screens) == 12
    corpus = make_corpus()
    for screen in screens:
        assert screen.source == corpus.source[screen.sentence - 1]
        assert screen.reference == corpus.reference[screen.sentence - 1]
        for item in screen.items:
            (system,) = item.systems
            assert item.text == corpus.systems[system][screen.sentence - 1]
        assert [item.identifier for item in screen.items] == [f"{screen.number}.{letter}" for letter in "ABC"]
        assert {system for item in screen.items for system in item.systems} == {"x", "y", "z"}


def test_one_screen_a_translation_in_direct_assessment():
    screens = make_study("direct", repeats=0, degraded=0).screens
    assert len(screens) == 36
    assert all(len(screen.items) == 1 for screen in screens)
    assert [screen.items[0].identifier for screen in screens] == [str(number) for number in range(1, 37)]
    pairs = {(screen.sentence, screen.items[0].systems) for screen in screens}
    assert len(pairs) == 36


def test_the_seed_decides():
    assert make_study(seed=3) == make_study(seed=3)
    assert make_study(seed=3).screens != make_study(seed=4).screens


@pytest.mark.parametrize("mode", ["side-by-side", "direct"])
def test_controls_are_what_they_are_compared_with(mode):
    screens = make_study(mode, repeats=5, degraded=6).screens
    items = items_by_identifier(screens)
    place = {item.identifier: screen.number for screen in screens for item in screen.items}
    originals = []
    for screen in screens:
        controls = [item for item in screen.items if item.original]
        for item in controls:
            original = items[item.original]
            assert original.kind == "system"
            assert original.systems == item.systems
            assert (item.text == original.text) == (item.kind == "repeat")
            assert abs(place[item.identifier] - place[item.original]) >= min(DISTANCE, 6)
        originals += list({place[item.original] for item in controls})
        if any(item.kind == "degraded" for item in screen.items):
            assert kinds([screen])["degraded"] == 1
            assert kinds([screen])["filler"] == len(screen.items) - 1
    assert len(originals) == len(set(originals)) == 11, "no screen is copied twice"


def test_controls_stand_before_and_after_their_originals():
    screens = make_study("direct", sentences=30, repeats=20, degraded=20).screens
    sides = Counter(
        int(item.identifier) < int(item.original) for screen in screens for item in screen.items if item.original
    )
    assert min(sides[True], sides[False]) > 5


@pytest.mark.parametrize(
    ("screens", "controls"), [(100, (10, 10)), (20, (5, 8)), (200, (20, 20)), (6, (3, 3)), (1, (0, 1)), (13, (5, 7))]
)
def test_a_tenth_are_controls_and_a_few_at_least(screens, controls):
    assert Sample("direct", 1).controls(screens) == controls


def test_equal_translations_are_rated_once():
    corpus = RatedTexts(
        ["s one"] * 4, None, {"x": ["same words"] * 4, "y": ["other words"] * 4, "z": ["same words "] * 4}
    )
    (screen, *_) = sample_screens(corpus, Sample("side-by-side", 4, repeats=0, degraded=0))
    assert sorted((item.text, item.systems) for item in screen.items) == [
        ("other words", ("y",)),
        ("same words", ("x", "z")),
    ]


def test_blank_sentences_are_not_drawn():
    corpus = make_corpus()
    corpus.source[3] = "  "
    corpus.reference[7] = ""
    screens = sample_screens(corpus, Sample("side-by-side", SENTENCES - 2, repeats=0, degraded=0))
    assert {screen.sentence for screen in screens} == set(range(1, SENTENCES + 1)) - {4, 8}
    with pytest.raises(ValueError, match="29 sentences cannot be drawn: only 28 have a source and a reference that"):
        sample_screens(corpus, Sample("side-by-side", SENTENCES - 1))


def test_empty_translations_are_rated_but_not_degraded():
    corpus = make_corpus(2)
    corpus.systems["x"][:] = [""] * SENTENCES
    screens = sample_screens(corpus, Sample("direct", 5, repeats=0, degraded=5))
    assert kinds(screens) == {"system": 10, "degraded": 5}
    assert {item.systems for screen in screens for item in screen.items if item.kind == "degraded"} == {("y",)}
    with pytest.raises(ValueError, match=r"6 degraded screens .*: only 5 have .*; --degraded says how many"):
        sample_screens(corpus, Sample("direct", 5, repeats=0, degraded=6))


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (Sample("ranking", 5), "unknown mode 'ranking': choose one of side-by-side, direct"),
        (Sample("direct", 0), "0 sentences cannot be drawn"),
        (Sample("direct", 31), "31 sentences cannot be drawn: only 30 have"),
        (Sample("direct", 5, repeats=-1), "neither may be negative"),
        (Sample("side-by-side", 5, repeats=3, degraded=3), "need as many others to be copies of: there are 5"),
    ],
)
def test_what_cannot_be_sampled(sample, message):
    with pytest.raises(ValueError, match=message):
        sample_screens(make_corpus(), sample)


@pytest.mark.parametrize(
    ("source", "reference", "systems", "message"),
    [
        (None, None, {"x": ["a"]}, "give the source, the reference, or both"),
        (["a"], None, {}, "there are no systems"),
        (["a"], ["a", "b"], {"x": ["a"]}, "source has 1, reference has 2, system x has 1"),
        (["a"], None, {"x": ["a"], "y": []}, "source has 1, system x has 1, system y has 0"),
        (["a"], None, {str(i): ["a"] for i in range(27)}, "27 systems: at most 26"),
    ],
)
def test_what_cannot_be_rated(source, reference, systems, message):
    with pytest.raises(ValueError, match=message):
        RatedTexts(source, reference, systems)


@pytest.mark.parametrize(
    ("words", "replaced"),
    [(1, 1), (3, 1), (4, 2), (7, 3), (8, 4), (15, 5), (19, 5), (24, 6)],
)
def test_how_many_words_are_replaced(words, replaced):
    assert count_replaced_words(words) == replaced


@pytest.mark.parametrize("words", [3, 4, 14, 33])
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
