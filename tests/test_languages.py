"""What a language's code says, in every form that people have it in."""

import pytest

from recurrent_mt.languages import base_language, has_spaces, is_chinese, three_letter_code


@pytest.mark.parametrize(
    ("codes", "base", "three_letters"),
    [
        ("fr FR fra fre fr_CA fr-FR FR_ca fra_Latn", "fr", "fra"),
        ("en EN eng en_GB en-US eng_Latn", "en", "eng"),
        ("zh ZH zho chi cmn zh_TW zh-CN zho_Hans zh_Hant_HK", "zh", "zho"),
        ("pt_BR por", "pt", "por"),
        ("vi vie vie_Latn", "vi", "vie"),
        ("ja jpn jpn_Jpan", "ja", "jpn"),
        ("haw", "haw", "haw"),
    ],
)
def test_a_language_is_known_by_all_its_codes(codes, base, three_letters):
    for code in codes.split():
        assert (base_language(code), three_letter_code(code)) == (base, three_letters)


def test_the_script_says_whether_there_are_spaces():
    assert all(map(is_chinese, ("zh", "zho_Hant", "cmn", "yue", "wuu"))) and not any(
        map(is_chinese, ("ja", "zh_Latn", ""))
    )
    assert not any(map(has_spaces, ("zh", "ja", "th", "lo", "km", "my", "jpn_Jpan", "yue")))
    assert all(map(has_spaces, ("fr", "ko", "vi", "ar", "hi", "zh_Latn", "")))


@pytest.mark.parametrize("code", ["french", "xx", "q", "x-y", "und", "fr_XYZ12", "e n", "français"])
def test_other_names_are_refused_with_codes_that_are_known(code):
    with pytest.raises(
        ValueError, match=rf"unknown language code '{code}': use one of ISO 639 .* fra, fr_CA, .* zho_Hans"
    ):
        base_language(code)
