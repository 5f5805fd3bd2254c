import itertools
import random
from pathlib import Path

import numpy as np
import pytest

from recurrent_mt.evaluation.structure.gates import PyramidGates
from recurrent_mt.evaluation.structure.trees import (
    BASELINES,
    GoldTree,
    find_best_tree,
    find_most_probable_tree,
    is_punctuation,
    keep_leaves,
    parse_penn_tree,
    random_tree,
    score_brackets,
    score_trees,
    split_everywhere,
    tree_tables,
    write_brackets,
)
from recurrent_mt.evaluation.tables import select
from tests.evaluation.structure.pyramids import LEFT, NEW, RIGHT, all_trees, pyramid_of, random_pyramid, spans_of

GUM = Path(__file__).resolve().parents[4] / "shared" / "data" / "gum-trees-en" / "dev.ptb"
LETTERS = tuple("abcdefgh")


def left_branching(leaves):
    return split_everywhere(leaves, BASELINES["left-branching"])


def right_branching(leaves):
    return split_everywhere(leaves, BASELINES["right-branching"])


def balanced(leaves):
    return split_everywhere(leaves, BASELINES["balanced"])


def test_baselines_by_hand():
    assert left_branching(4) == spans_of((((0, 1), 2), 3))
    assert right_branching(4) == spans_of((0, (1, (2, 3))))
    assert balanced(4) == spans_of(((0, 1), (2, 3)))
    assert balanced(5) == spans_of((((0, 1), 2), (3, 4)))


@pytest.mark.parametrize(
    "tree", [left_branching, right_branching, balanced, lambda n: random_tree(n, random.Random(1))]
)
def test_baselines_are_binary_trees(tree):
    assert [len(tree(leaves)) for leaves in (0, 1, 2, 3, 9)] == [0, 0, 1, 2, 8]


def test_random_trees_come_from_the_generator():
    assert random_tree(12, random.Random(1)) == random_tree(12, random.Random(1))
    generator = random.Random(1)
    assert len({random_tree(3, generator) for _ in range(50)}) == 2


def test_scores_by_hand():
    # Gold (a (b c) (d e)) has two phrases to find; ((a (b c)) (d e)) finds both and proposes a third.
    gold, tree = spans_of((0, (1, 2), (3, 4))), spans_of(((0, (1, 2)), (3, 4)))
    score = score_brackets([tree], [gold], [5])
    assert (score.precision, score.recall) == (pytest.approx(200 / 3), 100)
    assert score.f1 == score.sentence_f1 == pytest.approx(80)
    # With a second sentence of F1 0, where ((a b) c) is proposed for (a (b c)): 2 of 4 proposed, 2 of 3 wanted.
    score = score_brackets([tree, left_branching(3)], [gold, right_branching(3)], [5, 3])
    assert (score.precision, score.recall) == (50, pytest.approx(200 / 3))
    assert score.f1 == pytest.approx(400 / 7)
    assert (score.sentence_f1, score.sentences) == (pytest.approx(40), 2)


@pytest.mark.parametrize("length", [0, 1, 2])
def test_sentences_without_a_phrase_to_find(length):
    score = score_brackets([left_branching(length)], [left_branching(length)], [length])
    assert (score.precision, score.recall, score.f1, score.sentence_f1, score.sentences) == (0, 0, 0, 0, 0)


def test_a_flat_gold_tree_is_a_sentence_with_nothing_right():
    score = score_brackets([left_branching(3), left_branching(3)], [frozenset({(0, 3)}), left_branching(3)], [3, 3])
    assert (score.precision, score.recall, score.sentence_f1, score.sentences) == (50, 100, 50, 2)


SENTENCES = {
    # Without the full stop, three phrases are to be found: 0–2, 2–5, 3–5.
    "(S (NP (DT the) (NN dog)) (VP (VBZ chases) (NP (DT a) (NN cat))) (. .))": ((((0, 1), (2, (3, 4))), 5), 6),
    # None is, in a sentence of three words: it counts 0.
    "(S (PRP it) (VBZ barks) (RB loudly))": (((0, 1), 2), 3),
    # Two words, and one: left out.
    "(S (PRP it) (VP (VBZ barks)) (. !))": (((0, 1), 2), 3),
    "(S (UH yes) (. .))": ((0, 1), 2),
}


def test_sentence_f1_in_the_protocol_of_compound_pcfg_by_hand():
    gold = [parse_penn_tree(text) for text in SENTENCES]
    pyramids = [pyramid_of(tree, (*one.words, "</s>")) for tree, one in zip(SENTENCES.values(), gold)]
    records = select(score_trees(pyramids, gold), metric="sentence F1", by="without punctuation")
    scores = records.set_index("system")["value"]
    assert set(records["n"]) == {2}
    # Of (the (dog (chases (a cat)))) two of three phrases are right, of ((((the dog) chases) a) cat) one, of
    # (((the dog) chases) (a cat)) two.
    assert scores["grConv"] == 50
    assert scores["right-branching"] == scores["balanced"] == pytest.approx(100 / 3)
    assert scores["left-branching"] == pytest.approx(50 / 3)
    chance = records.set_index("system")["sd"].dropna().to_dict()
    assert sorted(chance) == ["grConv, gates shuffled", "random"]
    assert all(0 <= scores[name] < 50 for name in chance)


def test_leaves_taken_out_and_merged():
    tree = spans_of((((0, 1), 2), (3, 4)))
    assert keep_leaves(tree, [True, False, True, True, True]) == spans_of(((0, 1), (2, 3)))
    assert keep_leaves(tree, [False] * 5) == frozenset()
    # The first piece of each word.
    assert keep_leaves(tree, [True, False, False, True, True]) == spans_of((0, (1, 2)))
    assert write_brackets("abcde", tree) == "(((a b) c) (d e))"


def test_brackets_in_words_are_none_of_a_tree():
    assert write_brackets(["(", "a)", "b"], right_branching(3)) == "(-LRB- (a-RRB- b))"


PENN = {
    "n-ary": ("(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))", "the dog barks .", {(0, 4), (0, 2)}),
    "no label": ("( (S (NP (PRP it)) (VP (VBZ is) (ADJP (JJ so)))))", "it is so", {(0, 3), (1, 3)}),
    "escapes": ("(X (-LRB- -LRB-) (A a) (-RRB- -RRB-))", "( a )", {(0, 3)}),
    "traces": ("(S (NP (-NONE- *)) (VP (VB go) (RB on)))", "go on", {(0, 2)}),
    "accents": ("(S (DET l') (NOUN été))", "l' été", {(0, 2)}),
    "one word": ("(S (UH yes))", "yes", set()),
}


@pytest.mark.parametrize(("text", "words", "spans"), PENN.values(), ids=PENN)
def test_penn_trees(text, words, spans):
    assert parse_penn_tree(text) == GoldTree(tuple(words.split()), frozenset(spans))


BAD = {
    "open": ("(S (NP (DT the) (NN dog))", r"not one tree in brackets: .*expected '\)' but got 'end-of-string'"),
    "closed": ("(S (UH yes)))", r"not one tree in brackets: .*expected 'end-of-string' but got '\)'"),
    "two": ("(S (UH yes)) (S (UH no))", r"not one tree in brackets: .*expected 'end-of-string' but got '\(S'"),
    "none": ("", r"not one tree in brackets: .*expected '\(' but got 'end-of-string'"),
    "words": ("a plain sentence", r"not one tree in brackets: .*expected '\(' but got 'a'"),
    "two words": ("(S (NP the dog barks))", "in a bracket, but found 'NP the dog barks'"),
    "no word": ("(S (NP) (VP (VB go)))", "expected a label and a word, .* in a bracket, but found 'NP'"),
    "no label": ("(S (yes))", "in a bracket, but found 'yes'"),
    "word beside phrase": ("(S x (VB go))", r"or a label and phrases, in a bracket, but found 'S x \(…\)'"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_bad_trees_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        parse_penn_tree(text)


def f1_of(records, by="all tokens"):
    return select(records, metric="F1", by=by).set_index("system")["value"]


def test_scores_of_trees_by_hand():
    # ((a b) .) against ((a b) .): with the full stop one phrase is right, without it there is none to find.
    words = ("a", "b", ".")
    gold = GoldTree(words, spans_of(((0, 1), 2)))
    records = score_trees([pyramid_of((((0, 1), 2), 3), (*words, "</s>"))], [gold])
    scores = f1_of(records)
    assert (scores["grConv"], scores["left-branching"], scores["right-branching"]) == (100, 100, 0)
    assert set(select(records, metric="F1", by="without punctuation")["n"]) == {0}
    assert [table.caption for table in tree_tables(records, 1)] == [
        "All tokens: 1 sentences, 1 of them of three words or more",
        "Without punctuation: 1 sentences, 0 of them of three words or more",
    ]


def test_what_is_drawn_at_random_depends_on_the_seed_alone():
    words = tuple("abcdefgh")
    gold = [GoldTree(words, right_branching(8))] * 3
    pyramids = [random_pyramid((*words, "</s>"), seed) for seed in range(3)]
    first, again, other = (score_trees(pyramids, gold, seed=seed) for seed in (1, 1, 2))
    assert first.equals(again) and not first.equals(other)
    assert list(first.loc[first["sd"].notna(), "system"].unique()) == ["grConv, gates shuffled", "random"]


def test_gold_trees_of_other_words_are_refused():
    pyramid = random_pyramid(("L&apos;", "été", "</s>"), 1)
    assert len(score_trees([pyramid], [GoldTree(("l'", "été"), frozenset({(0, 2)}))]))
    with pytest.raises(ValueError, match="sentence 0, word 1: the model read 'été', but the gold tree has 'hiver'"):
        score_trees([pyramid], [GoldTree(("l'", "hiver"), frozenset({(0, 2)}))])
    with pytest.raises(ValueError, match="the model read 'the end', but the gold tree has 'est'"):
        score_trees([pyramid], [GoldTree(("l'", "été", "est"), frozenset({(0, 3)}))])
    with pytest.raises(ValueError, match="1 sentences, but 2 gold trees"):
        score_trees([pyramid], [GoldTree((), frozenset())] * 2)


def test_punctuation():
    assert all(map(is_punctuation, [".", "...", "«", "``", "。", "-", "&quot;", "&apos;"]))
    assert not any(map(is_punctuation, ["a", "l'", "3", "$", "n'", "&apos;s", "&lt;"]))


def test_gum_trees():
    if not GUM.is_file():
        pytest.skip("needs ../shared/data/gum-trees-en")
    lines = GUM.read_text("utf-8").splitlines()
    gold = [parse_penn_tree(line) for line in lines]
    sentences = GUM.with_suffix(".en").read_text("utf-8").splitlines()
    assert [" ".join(tree.words) for tree in gold] == sentences


@pytest.mark.parametrize("other", [NEW, LEFT, RIGHT], ids=["new", "left", "right"])
def test_every_tree_over_six_leaves_can_be_told_by_its_gates(other):
    trees = all_trees(0, 5)
    assert len(trees) == 42
    for tree in trees:
        assert find_most_probable_tree(pyramid_of(tree, LETTERS[:6], other=other)) == spans_of(tree)


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


@pytest.mark.parametrize("seed", range(2))
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
    zeros = np.zeros((4, 4))
    assert find_best_tree(zeros, zeros, zeros) == right_branching(4)
