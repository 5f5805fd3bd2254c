"""Raw lines on their way through a model: its tokens of them, and text of its translations, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..text_form import TextForm, leave_out_long


class Lines:
    """Raw lines as a model reads them; the log names those that it does not, or not as they are.

    Attributes:
        sentences: the tokens of those that are translated: neither empty, nor too long.
        numbers: of these lines.
    """

    def __init__(self, form: TextForm, lines: Iterable[str], first: int = 1) -> None:
        """Splits them; the number of the first is for messages."""
        self._tokens: Sequence[str] = leave_out_long([form.read(line, form.source) for line in lines], first)
        form.warn_of_unread(enumerate(self._tokens, first))
        self.sentences = [line for line in self._tokens if line]
        self.numbers = [number for number, line in enumerate(self._tokens, first) if line]

    def fill(self, translations: Iterable[str]) -> str:
        """A line for each: its translation as text, or nothing where there was nothing to translate."""
        found = iter(translations)
        return "".join(f"{next(found) if line else ''}\n" for line in self._tokens)
