"""Words separated and put together again: what comes back exactly, and what share of real text does."""

import subprocess
import sys
from pathlib import Path

import pytest

from recurrent_mt.data.normalization import normalize
from recurrent_mt.data.word_segmentation import words_of

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture(scope="module")
def chinese():
    pytest.importorskip("jieba")
    return words_of("zh")


def test_moses_is_that_of_the_command():
    sentences = ["L’été, c'est « bon » !", "Mr. Smith paid $3.50 (cash) & left...", "", "a|b [c] <d>"]
    for language in ("fr", "en"):
        done = subprocess.run(
            [Path(sys.executable).with_name("sacremoses"), "--quiet", "--language", language, "tokenize"],
            input="".join(line + "\n" for line in sentences),
            capture_output=True,
            text=True,
            check=True,
        )
        assert [words_of(language).split(line) for line in sentences] == done.stdout.splitlines()


@pytest.mark.parametrize(
    "text",
    [
        "我们在2017年有3.5%的增长，对吗？",
        "他说：“好！”然后……走了——再见。",
        "iPhone手机的价格是USD 999.99元(含税)",
        "只有English words here,没有别的",
        "Hello, world! No Chinese (at all).",
        "「引号」、《书名》·名字　".strip(),
        "𠮷野家",
        "",
    ],
)
def test_chinese_comes_back_exactly(chinese, text):
    text = normalize(text)
    words = chinese.split(text)
    assert words.replace(" ", "") == text.replace(" ", "")
    assert chinese.join(words) == text


def test_a_space_beside_a_chinese_character_is_dropped(chinese):
    assert chinese.join(chinese.split("我有 iPhone 手机, two of them")) == "我有iPhone手机, two of them"


def test_words_are_words(chinese):
    assert chinese.split("北京大学的学生") == "北京大学 的 学生"


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("wmt-zh-en/newstest2017.zh", 1.0),
        ("multi30k/test_2016_flickr.fr", 0.98),
        ("wmt-fr-en/newstest2013.en", 0.95),
        ("wmt-fr-en/newstest2013.fr", 0.8),
    ],
)
def test_share_of_real_lines_that_come_back(name, share, request):
    path = SHARED / name
    if not path.exists():
        pytest.skip("needs the corpora of ../shared")
    words = request.getfixturevalue("chinese") if path.suffix == ".zh" else words_of(path.suffix[1:])
    lines = [normalize(line) for line in path.read_text(encoding="utf-8").split("\n")[:1000] if line.strip()]
    if path.suffix == ".zh":
        # What the method promises: spaces beside Chinese characters are not text.
        lines = [words.join(line) for line in lines]
    restored = sum(words.join(words.split(line)) == line for line in lines)
    print(f"{name}: {restored} of {len(lines)}")
    assert restored >= share * len(lines)
