import pytest

from recurrent_mt.evaluation.structure import gate_figures
from recurrent_mt.evaluation.structure.gate_figures import (
    NARROW,
    WIDE,
    draw_pyramid,
    draw_sentence,
    draw_windows,
    find_reached,
    place_phrases,
)
from recurrent_mt.evaluation.structure.gates import PyramidGates, WindowGates
from recurrent_mt.evaluation.structure.trees import children_of
from tests.evaluation.structure.pyramids import LEFT, NEW, RIGHT, pyramid_of, random_pyramid, random_windows, spans_of

TREE = (((0, 1), 2), (3, 4))


def reached_phrases(pyramid):
    """The first and the last leaf of every node that the root reaches."""
    root = (len(pyramid.leaves) - 1, 0)
    return {(word, word + level) for level, word in find_reached(root, pyramid.joins()) if level}


def test_only_what_reaches_the_root_is_visible():
    pyramid = pyramid_of(TREE, "abcde")
    # new at the phrases; from abcde's left child left to abc, from its right child right to de; ab·c as it is, with
    # right at bc.
    new, left, right = {(0, 1), (0, 2), (0, 4), (3, 4)}, {(0, 3)}, {(1, 2), (1, 4), (2, 4)}
    assert reached_phrases(pyramid) == new | left | right
    passed, merged = draw_pyramid(pyramid, spans_of(TREE)).axes[0].collections[:2]
    assert (len(passed.get_segments()), len(merged.get_segments())) == (len(left | right), 2 * len(new))


def test_the_threshold_is_not_drawn(monkeypatch):
    pyramid = PyramidGates.from_levels(0, "abc", [[[0.2, 0.5, 0.3], [0.4, 0.3, 0.3]], [[0.2, 0.7, 0.1]]])
    assert reached_phrases(pyramid) == {(0, 1), (0, 2), (1, 2)}
    passed, merged = draw_pyramid(pyramid, []).axes[0].collections[:2]
    assert passed.get_array().tolist() == [0.3, 0.3, 0.3, 0.5, 0.7]
    assert merged.get_array().tolist() == [0.2, 0.2, 0.2, 0.2, 0.4, 0.4]
    # Above 0.2 the root reaches its left child alone.
    monkeypatch.setattr(gate_figures, "THRESHOLD", 0.2)
    assert reached_phrases(pyramid) == {(0, 1), (0, 2)}
    passed, merged = draw_pyramid(pyramid, []).axes[0].collections[:2]
    assert (passed.get_array().tolist(), merged.get_array().tolist()) == ([0.3, 0.5, 0.7], [])


def test_shape_of_a_tree():
    tree = set(spans_of(TREE))
    assert children_of((0, 5), tree) == [(0, 3), (3, 5)]
    assert children_of((0, 3), tree) == [(0, 2), (2, 3)]
    places = place_phrases(tree, 5)
    assert (places[0, 5], places[0, 3], places[3, 5], places[4, 5]) == ((2.375, 3), (1.25, 2), (3.5, 1), (4, 0))


def test_the_figure_has_words_scales_and_both_parts():
    pyramid = pyramid_of(TREE, ("l'", "été", "est", "très", "beau"))
    figure = draw_pyramid(pyramid, spans_of(TREE))
    figure.draw_without_rendering()
    edges, words, tree, *bars = figure.axes
    assert [text.get_text() for text in words.texts] == list(pyramid.leaves)
    assert [text.get_position()[0] for text in words.texts] == [0, 1, 2, 3, 4]
    passed, merged = edges.collections[:2]
    assert (len(passed.get_segments()), len(merged.get_segments())) == (4, 8)
    assert len(tree.lines) == 8
    assert sorted(bar.get_ylabel().split()[1] for bar in bars) == ["merges", "passes"]


def test_darker_is_greater():
    levels = [[[0.0, 0.9, 0.1], [0.0, 0.3, 0.7]], [[0.0, 0.6, 0.4]]]
    figure = draw_pyramid(PyramidGates.from_levels(0, "abc", levels), spans_of((0, (1, 2))))
    figure.draw_without_rendering()
    passed = figure.axes[0].collections[0]
    assert passed.get_array().tolist() == [0.3, 0.4, 0.6, 0.7, 0.9]
    brightness = [sum(color[:3]) for color in passed.get_edgecolor()]
    assert brightness == sorted(brightness, reverse=True)


def test_both_directions_stand_at_the_words_of_their_windows():
    # Forward, c joins b with itself and then a with that; backward, a joins itself with b and then that with c.
    windows = WindowGates.from_levels(0, "abc", [[[NEW, LEFT], [RIGHT]], [[NEW, LEFT], [LEFT]]])
    figure = draw_windows(windows)
    figure.draw_without_rendering()
    above, words, below = figure.axes[:3]
    assert [text.get_text() for text in words.texts] == ["a", "b", "c"]
    assert above.get_ylim()[0] < above.get_ylim()[1] and below.get_ylim()[0] > below.get_ylim()[1]
    passed, merged = above.collections[:2]
    assert [line.tolist() for line in passed.get_segments()] == [[[2, 1], [1, 0]], [[2, 2], [2, 1]]]
    assert len(merged.get_segments()) == 2
    assert list(passed.get_linewidths()) == [WIDE, WIDE] and list(merged.get_linewidths()) == [NARROW, NARROW]
    passed, merged = below.collections[:2]
    # At b, what begins with b: b itself. At a, on level 2: what begins with a on level 1.
    assert [line.tolist() for line in passed.get_segments()] == [[[1, 1], [1, 0]], [[0, 2], [0, 1]]]
    assert list(passed.get_linewidths()) == [NARROW, WIDE] and list(merged.get_linewidths()) == [WIDE, WIDE]


def test_only_what_the_root_reaches_over_gates_above_the_threshold_is_wide(monkeypatch):
    levels = [[[0.1, 0.6, 0.3]] * 4, [[0.2, 0.4, 0.4]] * 3, [[0.1, 0.2, 0.7]]]
    joins = WindowGates.from_levels(0, "abcde", [levels, levels]).joins()
    everything = {(3, 4), (2, 4), (1, 4), (1, 2), (0, 0), (0, 1), (0, 2), (0, 3), (0, 4)}
    assert find_reached((3, 4), joins) == everything
    monkeypatch.setattr(gate_figures, "THRESHOLD", 0.35)
    assert find_reached((3, 4), joins) == {(3, 4), (2, 4), (1, 4), (1, 2), (0, 1), (0, 3)}


@pytest.mark.parametrize("leaves", [1, 2, 30])
@pytest.mark.parametrize("make", [random_pyramid, random_windows])
def test_no_word_and_no_title_is_cut_off(make, leaves):
    words = tuple(["anticonstitutionnellement", "b"] * leaves)[:leaves]
    figure = draw_sentence(make(words, 1))
    figure.draw_without_rendering()
    width, height = figure.bbox.size
    for text in [*figure.axes[1].texts, *(axes._left_title for axes in figure.axes)]:
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, text.get_text()
