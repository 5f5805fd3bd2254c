import json

import numpy as np
import pytest

from recurrent_mt.evaluation.structure.gates import PyramidGates, read_gates
from recurrent_mt.text_files import FileError
from tests.evaluation.structure.pyramids import LEFT, NEW, RIGHT, random_pyramid


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
    "ragged": (record(gates=[[NEW, [1]], [RIGHT]]), "line 2: level 1 is not a list of three numbers a node"),
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
