import numpy as np
import pytest

from recurrent_mt.evaluation.structure.gates import WindowGates, gates_of
from tests.evaluation.structure.pyramids import LEFT, NEW, RIGHT, random_pyramid, random_windows

FORWARD, BACKWARD = [[NEW, LEFT], [RIGHT]], [[LEFT, LEFT], [NEW]]


def record(gates, source=("a", "b", "</s>"), **kind):
    return {"sentence": 0, "source": source, "gates": gates, **kind}


def test_gates_are_found_by_what_their_node_covers():
    pyramid = gates_of(record([[NEW, LEFT], [RIGHT]]))
    assert (pyramid.leaves, pyramid.words) == (("a", "b", "</s>"), ("a", "b"))
    assert pyramid.gates[0, 1].tolist() == NEW
    assert pyramid.gates[1, 2].tolist() == LEFT
    assert pyramid.gates[0, 2].tolist() == RIGHT
    assert pyramid.gates.sum() == 3


def test_shuffling_keeps_every_level():
    pyramid = random_pyramid(tuple("abcdefg"), 1)
    shuffled = pyramid.shuffled(np.random.default_rng(2))
    assert not np.array_equal(pyramid.gates, shuffled.gates)
    for height in range(1, 7):
        first = np.arange(7 - height)
        levels = [sorted(one.gates[first, first + height].tolist()) for one in (pyramid, shuffled)]
        assert levels[0] == levels[1]


def test_a_node_of_a_pyramid_is_above_two_that_overlap():
    pyramid = random_pyramid("abc", 1)
    joins = [(join.node, join.left, join.right) for join in pyramid.joins()]
    assert joins == [((1, 0), (0, 0), (0, 1)), ((1, 1), (0, 1), (0, 2)), ((2, 0), (1, 0), (1, 1))]
    assert [join.gates.tolist() for join in pyramid.joins()] == pyramid.gates[[0, 1, 0], [1, 2, 2]].tolist()


def windows_of(joins, leaves):
    """The leaves that each node covers, if its children are over disjoint windows side by side."""
    covered = {(0, leaf): (leaf, leaf) for leaf in range(leaves)}
    for join in joins:
        (first, middle), (after, last) = covered[join.left], covered[join.right]
        assert after == middle + 1
        covered[join.node] = first, last
    return covered


@pytest.mark.parametrize("leaves", [2, 3, 4, 5, 8, 9, 20])
def test_windows_double_and_lie_side_by_side(leaves):
    windows = random_windows("a" * leaves, 1)
    forward = windows_of(windows.joins(), leaves)
    backward = windows_of(windows.joins(backward=True), leaves)
    for (level, word), window in forward.items():
        assert window == (max(0, word - 2**level + 1), word)
    for (level, word), window in backward.items():
        assert window == (word, min(leaves - 1, word + 2**level - 1))
    top = max(level for level, _ in forward)
    assert forward[top, leaves - 1] == backward[top, 0] == (0, leaves - 1)


def test_joins_of_five_words_by_hand():
    # The window of the word 1 at level 2 is its window of level 1, which already begins with the sentence.
    joins = [(join.node, join.left, join.right) for join in random_windows("abcde", 1).joins()]
    assert joins[4:] == [
        ((2, 2), (0, 0), (1, 2)),
        ((2, 3), (1, 1), (1, 3)),
        ((2, 4), (1, 2), (1, 4)),
        ((3, 4), (0, 0), (2, 4)),
    ]


def test_gates_of_windows_are_those_of_both_directions():
    first = gates_of(record([FORWARD, BACKWARD], dilated=True))
    second = gates_of(record([[], []], source=["</s>"], dilated=True))
    assert isinstance(first, WindowGates) and (first.leaves, first.words) == (("a", "b", "</s>"), ("a", "b"))
    assert [level.tolist() for level in first.forward] == FORWARD
    assert [level.tolist() for level in first.backward] == BACKWARD
    assert second.forward == second.backward == ()


def test_windows_may_stop_at_a_height():
    gates = gates_of(record([FORWARD[:1], BACKWARD[:1]], dilated=True))
    assert [level.tolist() for level in gates.forward] == FORWARD[:1]
    assert [join.node for join in gates.joins()] == [(1, 1), (1, 2)]
