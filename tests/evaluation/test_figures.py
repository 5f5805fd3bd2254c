import pytest
from matplotlib.figure import Figure

from recurrent_mt.evaluation.figures import (
    CHINESE_FONTS,
    choose_examples,
    font_families,
    missing_characters,
    save_figure,
)


def test_letters_with_accents_are_always_there():
    assert missing_characters(["été œuvre naïve", "Straße", "</s>", "▁ « »"]) == []


def test_missing_characters_are_named_once_in_order():
    assert missing_characters(["a\ue001b\ue000", "\ue001"]) == ["\ue000", "\ue001"]


def test_chinese_is_drawn_where_a_font_for_it_is_installed():
    missing = missing_characters(["中国人"])
    if set(font_families()) & set(CHINESE_FONTS):
        assert missing == []
    else:
        assert missing == sorted("中国人")


def test_examples_are_the_first_sentences_of_five_to_twelve_tokens():
    assert choose_examples([4, 5, 13, 12, 8, 7], 3) == [1, 3, 4]
    assert choose_examples([4, 5], 3) == [1] and choose_examples([5], 0) == []


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.b.pdf", b"%PDF")])
def test_figures_take_their_format_from_the_name(tmp_path, name, start):
    save_figure(Figure(), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [file.name for file in tmp_path.iterdir()] == [name]
