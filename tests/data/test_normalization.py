import sys
import unicodedata

import pytest

from recurrent_mt.data.normalization import normalize

CASES = {
    "composed": ("cafe\u0301 e\u0302tre", "café être"),
    "odd spaces": ("a\u00a0b\u202fc\u3000d\te\u2009f", "a b c d e f"),
    "runs and ends": ("  a   b ", "a b"),
    "line separators": ("a\u2028b\u2029c\u0085d\x0be\x0cf\x1eg\rh", "a b c d e f g h"),
    "control": ("a\x00b\x7fc\x9fd", "a b c d"),
    "zero width": ("wo\u200brd \ufeffs\u00adoft \u2066x\u2069", "word soft x"),
    "no characters": ("a\ufffe\ufdd0\U0001ffffb", "ab"),
    "left alone": ("« L’été », 100 % ﬁn — 中文，。", "« L’été », 100 % ﬁn — 中文，。"),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_cases(text, expected):
    assert normalize(text) == expected


def test_every_character():
    """Whatever a line holds, the result is one line in NFC for every way of counting, and normal already."""
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.category(character) == "Cs":
            continue
        line = normalize(f"a{character}b")
        assert len(line.splitlines()) == 1, hex(code)
        assert normalize(line) == line and unicodedata.is_normalized("NFC", line), hex(code)
        assert unicodedata.category(character) not in {"Cc", "Zl", "Zp"} or line == "a b", hex(code)
