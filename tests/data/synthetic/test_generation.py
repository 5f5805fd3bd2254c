import pytest

from recurrent_mt.data.synthetic import SHORTEST, detokenize, generate


def test_sizes_and_splits(corpus):
    assert {split: len(examples) for split, examples in corpus.items()} == {
        "train": 2000, "valid": 100, "test": 200,
    }  # fmt: skip


def test_sources_are_all_different_and_no_sentence_of_test_or_valid_occurs_in_train(corpus, pair):
    """Also among the shortest sentences, of which many would be drawn twice."""
    long = [example for split in corpus.values() for example in split]
    short = list(generate(pair, {"train": 1100, "valid": 20, "test": 80}, max_words=4))
    for examples in (long, short):
        train, held_out = set(), set()
        for example in examples:
            texts = train if example.split == "train" else held_out
            texts |= {("source", example.source_text), ("target", example.target_text)}
        assert len(train) > 1000 and not train & held_out
        assert len({example.source_text for example in examples}) == len(examples)


def test_the_leaves_of_the_trees_are_the_tokens(examples):
    for example in examples:
        assert [leaf.token for leaf in example.source_tree.leaves()] == example.source_tokens
        assert [leaf.token for leaf in example.target_tree.leaves()] == example.target_tokens
        for tree in (example.source_tree, example.target_tree):
            assert " )" not in str(tree)
            assert str(tree).count("(") == str(tree).count(")")


def test_tokens_hold_no_space_and_no_bracket(examples):
    tokens = {token for example in examples for token in example.source_tokens + example.target_tokens}
    assert all(token and not set(token) & set(" \u00a0()") for token in tokens)


def test_content_words_are_aligned(examples):
    """Every noun, name and adjective has a counterpart; so have nine in ten of the verbs."""
    aligned, all_verbs = 0, 0
    for example in examples:
        positions = set(range(len(example.source_tokens))), set(range(len(example.target_tokens)))
        assert example.alignment == sorted(set(example.alignment))
        for side, tree in enumerate((example.source_tree, example.target_tree)):
            linked = {link[side] for link in example.alignment}
            assert linked <= positions[side]
            for position, leaf in enumerate(tree.leaves()):
                if leaf.label in ("NOUN", "PROPN", "ADJ"):
                    assert position in linked, f"{leaf} is not aligned in {example.source_text}"
                all_verbs += leaf.label == "VERB"
                aligned += leaf.label == "VERB" and position in linked
    assert aligned > 0.9 * all_verbs


def test_text_and_tokens_say_the_same(examples, pair):
    source, target = pair.split("-")
    for example in examples:
        sides = (
            (example.source_tokens, example.source_text, source),
            (example.target_tokens, example.target_text, target),
        )
        for tokens, text, language in sides:
            assert "".join("".join(tokens).split()).casefold() == "".join(text.split()).casefold()
            assert text == detokenize(tokens, language)


@pytest.mark.parametrize(
    ("language", "tokens", "text"),
    [
        ("fr", "l' homme n' aime pas l' ours .", "L'homme n'aime pas l'ours."),
        ("fr", "est-ce qu' elle dort aujourd'hui ?", "Est-ce qu'elle dort aujourd'hui\u00a0?"),
        ("en", "yesterday , the boys ' dog saw Paul 's cat .", "Yesterday, the boys' dog saw Paul's cat."),
        ("zh", "猫 睡觉 了 。", "猫睡觉了。"),
        ("en", "", ""),
    ],
)
def test_detokenize(language, tokens, text):
    assert detokenize(tokens.split(), language) == text


def test_a_larger_training_set_begins_with_the_smaller_one():
    def texts(size):
        return [example.source_text for example in generate("fr-en", {"train": size, "test": 20}, seed=5)]

    assert texts(200)[:120] == texts(100)


def test_the_most_words():
    for example in generate("fr-en", {"train": 50}, max_words=9):
        assert {len(example.source_tokens), len(example.target_tokens)} <= set(range(SHORTEST, 10))


def test_more_sentences_than_can_be_made(monkeypatch):
    monkeypatch.setattr("recurrent_mt.data.synthetic._PATIENCE", 20)
    with pytest.raises(RuntimeError, match=r"train: no new sentence pair of at most 3 words after \d+ of 100000"):
        list(generate("fr-en", {"train": 100000}, max_words=3))
