"""Words of a language separated by spaces, and put together again as people write them.

French, English and other languages with spaces are tokenised as Moses does. Chinese is split by jieba within runs of
Chinese characters; whatever else stands between spaces stays one token. So its text comes back exactly, whatever jieba
decides, if it has single spaces and none of them beside a Chinese character; a space there is dropped.
"""

from __future__ import annotations

import logging
import re
from typing import Any, Protocol

from .normalization import normalize

#: Ideographs, Bopomofo, CJK punctuation and full-width forms: where Chinese is written without spaces.
_CHINESE = (
    "\u2e80-\u2fdf\u3000-\u303f\u3100-\u312f\u31a0-\u31bf\u31c0-\u31ef\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\ufe30-\ufe4f\uff01-\uffef\U00020000-\U0003ffff"
)
_CHARACTER = re.compile(f"[{_CHINESE}]")
_RUN = re.compile(f"[{_CHINESE}]+|[^{_CHINESE} ]+")
_SPACE_BESIDE_CHINESE = re.compile(f"(?<=[{_CHINESE}]) +| +(?=[{_CHINESE}])")


class Words(Protocol):
    """How the words of one language are separated."""

    def split(self, text: str) -> str:
        """Raw text to words with a space between them."""

    def join(self, words: str) -> str:
        """Words with spaces between them to raw text."""


class MosesWords:
    """sacremoses; characters that are special to XML come escaped, as from Moses."""

    def __init__(self, language: str) -> None:
        from sacremoses import MosesDetokenizer, MosesTokenizer

        self._tokenizer: Any = MosesTokenizer(lang=language)
        self._detokenizer: Any = MosesDetokenizer(lang=language)

    def split(self, text: str) -> str:
        """Raw text to words."""
        return self._tokenizer.tokenize(normalize(text), return_str=True)

    def join(self, words: str) -> str:
        """Words to raw text."""
        return self._detokenizer.detokenize(words.split(), return_str=True)


class ChineseWords:
    """jieba, within runs of Chinese characters."""

    def __init__(self) -> None:
        import jieba

        jieba.setLogLevel(logging.WARNING)
        jieba.initialize()
        self._cut: Any = jieba.lcut

    def split(self, text: str) -> str:
        """Raw text to words."""
        words: list[str] = []
        for run in _RUN.findall(normalize(text)):
            words += self._cut(run) if _CHARACTER.match(run) else [run]
        return " ".join(words)

    def join(self, words: str) -> str:
        """Words to raw text."""
        return _SPACE_BESIDE_CHINESE.sub("", words)


def words_of(language: str) -> Words:
    """The way of a language: ``zh`` is Chinese, all others have spaces."""
    return ChineseWords() if language.split("_")[0] == "zh" else MosesWords(language)
