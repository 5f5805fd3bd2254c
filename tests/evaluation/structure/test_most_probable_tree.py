import itertools

import numpy as np
import pytest

from recurrent_mt.evaluation.structure.gates import PyramidGates
from recurrent_mt.evaluation.structure.most_probable_tree import find_best_tree, find_most_probable_tree
from recurrent_mt.evaluation.structure.trees import balanced, left_branching, right_branching, write_brackets
from tests.evaluation.structure.pyramids import LEFT, NEW, RIGHT, all_trees, pyramid_of, random_pyramid, spans_of

LETTERS = tuple("abcdefgh")
SHAPES = {
    "left": ((((0, 1), 2), 3), left_branching(4)),
    "right": ((0, (1, (2, 3))), right_branching(4)),
    "balanced": (((0, 1), (2, 3)), balanced(4)),
    "middle": ((0, ((1, 2), 3)), frozenset({(0, 4), (1, 4), (1, 3)})),
}


@pytest.mark.parametrize("other", [NEW, LEFT, RIGHT], ids=["new", "left", "right"])
@pytest.mark.parametrize(("tree", "expected"), SHAPES.values(), ids=SHAPES)
def test_one_hot_gates_make_their_tree(tree, expected, other):
    assert find_most_probable_tree(pyramid_of(tree, LETTERS[:4], other=other)) == expected == spans_of(tree)


def test_every_tree_over_six_leaves_can_be_told_by_its_gates():
    trees = all_trees(0, 5)
    assert len(trees) == 42
    for tree in trees:
        assert find_most_probable_tree(pyramid_of(tree, LETTERS[:6])) == spans_of(tree)


def test_a_pyramid_worked_out_by_hand():
    # a b c: P(((a b) c)) = new[abc] · new[ab] · right[bc] = .5 · .5 · .3, P((a (b c))) = .5 · left[ab] · new[bc].
    levels = [[[0.5, 0.4, 0.1], [0.4, 0.3, 0.3]], [[0.5, 0.25, 0.25]]]
    assert find_most_probable_tree(PyramidGates.from_levels(0, "abc", levels)) == {(0, 3), (1, 3)}
    levels[0][1] = [0.3, 0.3, 0.4]
    assert find_most_probable_tree(PyramidGates.from_levels(0, "abc", levels)) == {(0, 3), (0, 2)}


def leaves_of(tree):
    return [tree] if isinstance(tree, int) else leaves_of(tree[0]) + leaves_of(tree[1])


def tree_made_by(choice, n):
    """The tree of a hard choice of every node, played out; None unless each phrase is made by its own node."""

    def content(first, last):
        if first == last:
            return first
        gate = choice[first, last]
        if gate == 1:
            return content(first, last - 1)
        if gate == 2:
            return content(first + 1, last)
        left, right = content(first, last - 1), content(first + 1, last)
        if left is None or right is None:
            return None
        return (left, right) if leaves_of((left, right)) == list(range(first, last + 1)) else None

    tree = content(0, n - 1)
    return tree if tree is not None and leaves_of(tree) == list(range(n)) else None


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_most_probable_over_all_choices_of_the_nodes(seed):
    n = 4
    pyramid = random_pyramid(LETTERS[:n], seed)
    nodes = [(first, last) for first in range(n) for last in range(first + 1, n)]
    probabilities = {}
    for gates in itertools.product(range(3), repeat=len(nodes)):
        choice = dict(zip(nodes, gates))
        tree = tree_made_by(choice, n)
        if tree is not None:
            probability = np.prod([pyramid.gates[first, last, gate] for (first, last), gate in choice.items()])
            probabilities[tree] = probabilities.get(tree, 0) + probability
    assert sorted(map(str, probabilities)) == sorted(map(str, all_trees(0, n - 1)))
    assert find_most_probable_tree(pyramid) == spans_of(max(probabilities, key=probabilities.get))


def test_the_end_of_the_sentence_is_no_leaf():
    with_end = pyramid_of((((0, 1), 2), (3, 4)), (*LETTERS[:4], "</s>"))
    assert write_brackets(with_end.words, find_most_probable_tree(with_end)) == "(((a b) c) d)"
    inside = pyramid_of((0, ((1, 2), 3)), ("a", "b", "c", "</s>"))
    assert write_brackets(inside.words, find_most_probable_tree(inside)) == "(a (b c))"


@pytest.mark.parametrize(
    ("leaves", "expected"),
    [
        ((), set()),
        (("</s>",), set()),
        (("a",), set()),
        (("a", "</s>"), set()),
        (("a", "b"), {(0, 2)}),
        (("a", "b", "</s>"), {(0, 2)}),
    ],
)
def test_short_sentences(leaves, expected):
    assert find_most_probable_tree(random_pyramid(leaves, 3)) == expected


def test_gates_that_make_no_tree_still_imply_one():
    levels = [[LEFT] * 3, [LEFT] * 2, [LEFT]]
    assert len(find_most_probable_tree(PyramidGates.from_levels(0, "abcd", levels))) == 3


def test_words_are_not_cut():
    # The pieces want ((un@@ (do b)) c); words allow ((undo b) c).
    pyramid = pyramid_of(((0, (1, 2)), 3), ("un@@", "do", "b", "c"))
    tree = find_most_probable_tree(pyramid, segmentation="bpe")
    assert pyramid.merged_words("bpe") == ["undo", "b", "c"]
    assert write_brackets(pyramid.merged_words("bpe"), tree) == "((undo b) c)"
    for seed in range(20):
        pieces = ("▁a", "b", "c", "▁d", "▁e", "f", "</s>")
        tree = find_most_probable_tree(random_pyramid(pieces, seed), segmentation="sentencepiece")
        assert tree in ({(0, 3), (0, 2)}, {(0, 3), (1, 3)})


def test_equal_splits_go_to_the_left():
    assert find_best_tree(np.zeros((4, 4))) == right_branching(4)


def test_a_chart_without_a_tree_is_refused():
    with pytest.raises(ValueError, match="no binary tree over 3 leaves is allowed"):
        find_best_tree(np.full((3, 3), -np.inf))
