import pytest

from recurrent_mt.evaluation.structure.gates import WindowGates, list_joins
from recurrent_mt.evaluation.structure.windows_figure import NARROW, WIDE, draw_windows, find_reached
from tests.evaluation.structure.pyramids import LEFT, NEW, RIGHT, random_windows


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


def test_only_what_the_root_reaches_over_gates_above_the_threshold_is_wide():
    levels = [[[0.1, 0.6, 0.3]] * 4, [[0.2, 0.4, 0.4]] * 3, [[0.1, 0.2, 0.7]]]
    joins = list_joins(5)
    everything = {(3, 4), (2, 4), (1, 4), (1, 2), (0, 0), (0, 1), (0, 2), (0, 3), (0, 4)}
    assert find_reached(joins[-1][-1], joins, levels, 0.05) == everything
    assert find_reached(joins[-1][-1], joins, levels, 0.35) == {(3, 4), (2, 4), (1, 4), (1, 2), (0, 1), (0, 3)}


@pytest.mark.parametrize("leaves", [1, 2, 3, 30])
def test_no_word_and_no_title_is_cut_off(leaves):
    words = tuple(["anticonstitutionnellement", "b"] * leaves)[:leaves]
    figure = draw_windows(random_windows(words, 1))
    figure.draw_without_rendering()
    width, height = figure.bbox.size
    texts = [*figure.axes[1].texts, figure.axes[2]._left_title]
    for text in texts:
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= width and box.y1 <= height, text.get_text()


def test_what_cannot_be_drawn_of_windows_is_named():
    with pytest.raises(ValueError, match="sentence 0 has no leaves"):
        draw_windows(WindowGates.from_levels(0, [], [[], []]))
    with pytest.raises(ValueError, match=r"at least 0 and less than 1, not 1.0"):
        draw_windows(random_windows("ab", 1), threshold=1.0)
