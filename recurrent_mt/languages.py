"""What a language's code says, however it continues: ``zh``, ``zh_CN``, and ``zh-TW`` are all Chinese."""

from __future__ import annotations

import re


def base_language(code: str) -> str:
    """The code without script and country."""
    return re.split("[_-]", code)[0].lower()


def is_chinese(code: str) -> bool:
    """Whether a text is written in Chinese characters without spaces."""
    return base_language(code) == "zh"
