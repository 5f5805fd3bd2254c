"""From tokens to the text that people read: *l' homme dort .* becomes *L'homme dort*."""

from __future__ import annotations

from collections.abc import Sequence

LANGUAGES = ("fr", "en", "zh")
_NO_SPACE_BEFORE = frozenset([".", ",", "'s", "'"])
_NO_BREAK_SPACE = "\u00a0"


def detokenize(tokens: Sequence[str], language: str) -> str:
    """Returns the text of a tokenized sentence: spacing of the language, a capital letter at the start.

    French puts a no-break space (U+00A0) before a question mark; Chinese is written without spaces. The tokens are
    true-cased, as the corpus has them or as a model trained on it makes them.

    Raises:
        ValueError: another language.
    """
    if language not in LANGUAGES:
        raise ValueError(f"unknown language {language!r}: choose from {', '.join(LANGUAGES)}")
    if language == "zh":
        return "".join(tokens)
    text = ""
    for token in tokens:
        if token == "?":
            text += _NO_BREAK_SPACE + token if language == "fr" else token
        elif not text or token in _NO_SPACE_BEFORE or (language == "fr" and text.endswith("'")):
            text += token
        else:
            text += " " + token
    return text[:1].upper() + text[1:]
