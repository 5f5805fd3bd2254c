import json

import numpy as np
import pytest

from recurrent_mt.evaluation.structure.gates import PyramidGates, WindowGates, count_nodes, list_joins, read_gates
from recurrent_mt.text_files import FileError
from tests.evaluation.structure.pyramids import LEFT, NEW, RIGHT, random_pyramid

FORWARD, BACKWARD = [[NEW, LEFT], [RIGHT]], [[LEFT, LEFT], [NEW]]


def record(number=0, source=("a", "b", "</s>"), gates=None):
    return {"sentence": number, "source": list(source), "gates": gates or [[NEW, LEFT], [RIGHT]]}


def write(path, *records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def test_gates_are_found_by_what_their_node_covers(tmp_path):
    (pyramid,) = read_gates(write(tmp_path / "gates", record()))
    assert (pyramid.leaves, pyramid.words) == (("a", "b", "</s>"), ("a", "b"))
    assert pyramid.gates[0, 1].tolist() == NEW
    assert pyramid.gates[1, 2].tolist() == LEFT
    assert pyramid.gates[0, 2].tolist() == RIGHT
    assert pyramid.gates.sum() == 3


BAD = {
    "levels": (record(gates=[[NEW, LEFT]]), "line 2: 3 leaves make 2 levels, but there are 1"),
    "nodes": (record(gates=[[NEW], [RIGHT]]), r"line 2: level 1 of 3 leaves has 2 nodes of 3 gates, not \(1, 3\)"),
    "ragged": (record(gates=[[NEW, [1]], [RIGHT]]), "line 2: setting an array element with a sequence"),
    "sum": (record(gates=[[NEW, LEFT], [[0.5, 0.4, 0.0]]]), "line 2: on level 2 the three gates of a node are no prob"),
    "nan": (record(gates=[[NEW, LEFT], [[float("nan")] * 3]]), "line 2: on level 2 the three gates"),
    "negative": (record(gates=[[NEW, LEFT], [[1.5, -0.5, 0]]]), "line 2: on level 2 the three gates"),
    "order": (record(number=5), "line 2: sentence 5 where sentence 1 is expected"),
    "fields": ({"sentence": 1, "source": []}, "line 2: the field 'gates' is missing or no list"),
    "list": ([1], "line 2: expected an object with the fields sentence, source, gates"),
}


@pytest.mark.parametrize(("bad", "message"), BAD.values(), ids=BAD)
def test_bad_lines_are_named(tmp_path, bad, message):
    bad = {**bad, "sentence": bad["sentence"] or 1} if isinstance(bad, dict) else bad
    with pytest.raises(FileError, match=message):
        read_gates(write(tmp_path / "gates", record(), bad))


def test_a_cut_off_file_is_named(tmp_path):
    path = write(tmp_path / "gates", record(), record(1))
    path.write_text(path.read_text()[:-20])
    with pytest.raises(FileError, match="line 2: this is not JSON"):
        read_gates(path)


def test_shuffling_keeps_every_level():
    pyramid = random_pyramid(tuple("abcdefg"), 1)
    shuffled = pyramid.shuffled(np.random.default_rng(2))
    assert not np.array_equal(pyramid.gates, shuffled.gates)
    for height in range(1, 7):
        first = np.arange(7 - height)
        levels = [sorted(one.gates[first, first + height].tolist()) for one in (pyramid, shuffled)]
        assert levels[0] == levels[1]


def test_rounded_gates_are_accepted():
    assert PyramidGates.from_levels(0, "ab", [[[0.33333, 0.33333, 0.33333]]]).gates[0, 1].sum() < 1


def windows_record(number=0, source=("a", "b", "</s>"), gates=(FORWARD, BACKWARD), **kind):
    return {"sentence": number, "source": list(source), "dilated": True, "gates": list(gates), **kind}


def test_nodes_of_levels():
    assert [count_nodes(leaves) for leaves in range(6)] == [[], [], [1], [2, 1], [3, 2], [4, 3, 1]]


def windows_of(joins, leaves):
    """The leaves that each node covers, if its children are over disjoint windows side by side."""
    covered = {(0, leaf): (leaf, leaf) for leaf in range(leaves)}
    for join in (join for level in joins for join in level):
        (first, middle), (after, last) = covered[join.left], covered[join.right]
        assert after == middle + 1
        covered[join.level, join.word] = first, last
    return covered


@pytest.mark.parametrize("leaves", [2, 3, 4, 5, 8, 9, 20])
def test_windows_double_and_lie_side_by_side(leaves):
    levels = len(count_nodes(leaves))
    forward = windows_of(list_joins(leaves, levels), leaves)
    backward = windows_of(list_joins(leaves, levels, backward=True), leaves)
    for (level, word), window in forward.items():
        assert window == (max(0, word - 2**level + 1), word)
    for (level, word), window in backward.items():
        assert window == (word, min(leaves - 1, word + 2**level - 1))
    top = max(level for level, _ in forward)
    assert forward[top, leaves - 1] == backward[top, 0] == (0, leaves - 1)


def test_joins_of_five_words_by_hand():
    # The window of the word 1 at level 2 is its window of level 1, which already begins with the sentence.
    joins = [(join.level, join.word, join.left, join.right) for level in list_joins(5, 3) for join in level]
    assert joins[4:] == [
        (2, 2, (0, 0), (1, 2)),
        (2, 3, (1, 1), (1, 3)),
        (2, 4, (1, 2), (1, 4)),
        (3, 4, (0, 0), (2, 4)),
    ]


def test_gates_of_windows_are_read_back(tmp_path):
    first, second = read_gates(write(tmp_path / "gates", windows_record(), windows_record(1, ["</s>"], ([], []))))
    assert isinstance(first, WindowGates) and (first.leaves, first.words) == (("a", "b", "</s>"), ("a", "b"))
    assert [level.tolist() for level in first.forward] == FORWARD
    assert [level.tolist() for level in first.backward] == BACKWARD
    assert second.forward == second.backward == ()


def test_windows_may_stop_at_a_height(tmp_path):
    (gates,) = read_gates(write(tmp_path / "gates", windows_record(gates=[FORWARD[:1], BACKWARD[:1]])))
    assert [level.tolist() for level in gates.forward] == FORWARD[:1]
    assert len(list_joins(3, 1)) == 1


BAD_WINDOWS = {
    "directions": (windows_record(1, gates=[FORWARD]), "line 2: a dilated grConv has two directions, but there are 1"),
    "levels": (windows_record(1, gates=[FORWARD, BACKWARD[:1]]), "line 2: 3 leaves make 2 levels, but there are 1"),
    "nodes": (windows_record(1, gates=[[[NEW], [NEW]], BACKWARD]), r"line 2: level 1 of 3 leaves has 2 nodes of 3 g"),
    "sum": (windows_record(1, gates=[FORWARD, [[LEFT, NEW], [[1, 1, 1]]]]), "line 2: on level 2 the three gates"),
    "pyramid": (windows_record(1, gates=FORWARD, dilated=False), "line 2: a pyramid and a dilated grConv in one file"),
    "no levels": (windows_record(1, gates=[1, 2]), "line 2: "),
}


@pytest.mark.parametrize(("bad", "message"), BAD_WINDOWS.values(), ids=BAD_WINDOWS)
def test_bad_lines_of_windows_are_named(tmp_path, bad, message):
    with pytest.raises(FileError, match=message):
        read_gates(write(tmp_path / "gates", windows_record(), bad))
