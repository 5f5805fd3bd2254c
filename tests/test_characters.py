"""Characters made regular: one text has one form, whatever it held."""

import sys
import unicodedata

import pytest

from recurrent_mt.characters import lowercase, normalize

CASES = {
    "composed": ("cafe\u0301 e\u0302tre", "café être"),
    "odd spaces": ("a\u00a0b\u202fc\u3000d\te\u2009f", "a b c d e f"),
    "runs and ends": ("  a   b ", "a b"),
    "line separators": ("a\u2028b\u2029c\u0085d\x0be\x0cf\x1eg\rh", "a b c d e f g h"),
    "control": ("a\x00b\x7fc\x9fd", "a b c d"),
    "zero width": ("wo\u200brd \ufeffs\u00adoft \u2066x\u2069", "word soft x"),
    "joiners": ("\u200cمی\u200cرود، کتاب\u200c\u200cها\u200d", "می\u200cرود، کتاب\u200cها"),
    "joiners at the end": ("അവന്\u200d വ\u200d হঠাত্\u200d\u200d", "അവന്\u200d വ হঠাত্\u200d"),
    "other joiners": ("क्\u200dष a\u200db", "क्\u200dष ab"),
    "emoji": ("👩\u200d🔬 🏳️\u200d🌈 a\u200d🔬", "👩\u200d🔬 🏳️\u200d🌈 a🔬"),
    "Mongolian": ("ᠬᠠᠷ\u180eᠠ", "ᠬᠠᠷ\u180eᠠ"),
    "no characters": ("a\ufffe\ufdd0\U0001ffffb", "ab"),
    "left alone": ("« L’été », 100 % ﬁn — 中文，。", "« L’été », 100 % ﬁn — 中文，。"),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_normalized_text(text, expected):
    assert normalize(text) == expected


def test_every_character_is_normalized_to_one_line():
    """Whatever a line holds, the result is one line in NFC for every way of counting, and normal already."""
    # Behind the two planes of letters and signs are ideographs and private characters, of which a hundredth is enough,
    # tags, and at the end of each plane what is no character.
    codes = {*range(0x20000), *range(0x20000, sys.maxunicode + 1, 101), *range(0xE0000, 0xE0200)}
    codes |= {plane << 16 | 0xFFFE for plane in range(17)}
    everything = [chr(code) for code in sorted(codes) if unicodedata.category(chr(code)) != "Cs"]
    # Many at a time: between two words, none changes what becomes of the next. Sorted, since a line is spared what none
    # of its characters needs.
    everything.sort(key=lambda character: (character.isprintable(), unicodedata.is_normalized("NFC", character)))
    for start in range(0, len(everything), 256):
        line = normalize(" ".join(f"a{character}b" for character in everything[start : start + 256]))
        block = f"from {ord(everything[start]):#x}"
        assert len(line.splitlines()) == 1, block
        assert normalize(line) == line and unicodedata.is_normalized("NFC", line), block
    for character in everything:
        if unicodedata.category(character) in {"Cc", "Zl", "Zp"}:
            assert normalize(f"a{character}b") == "a b", hex(ord(character))


def test_turkish_has_two_letters_i():
    assert lowercase("IŞIK Isınma İSTANBUL", "tur") == "ışık ısınma istanbul"
    assert lowercase("ISTANBUL", "en") == "istanbul"


def test_kazakh_and_tatar_have_two_letters_i_in_latin_script_alone():
    assert [lowercase("IBM", code) for code in ("kk", "kk_Latn", "tt_Cyrl", "tat_Latn")] == ["ibm", "ıbm"] * 2
