from recurrent_mt.evaluation.fonts import CHINESE, font_families, missing_characters


def test_letters_with_accents_are_always_there():
    assert missing_characters(["été œuvre naïve", "Straße", "</s>", "▁ « »"]) == []


def test_missing_characters_are_named_once_in_order():
    assert missing_characters(["a\ue001b\ue000", "\ue001"]) == ["\ue000", "\ue001"]


def test_chinese_is_drawn_where_a_font_for_it_is_installed():
    missing = missing_characters(["中国人"])
    if set(font_families()) & set(CHINESE):
        assert missing == []
    else:
        assert missing == sorted("中国人")
