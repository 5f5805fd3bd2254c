r"""Text as fairseq's own readers should see it: a line ends at ``\n`` or ``\r\n``, and nowhere else.

fairseq 0.12.2 opens text the way Python does unless told otherwise, and takes a lone carriage return, which is a
character like any other to most tools, for the end of a line: each one shifts all pairs after it by one. A byte order
mark becomes a part of the first word, and NULs (from text that was UTF-16, or from a crash) become parts of words.
"""

import builtins
import contextlib
import io
import sys

from .. import REPAIRS
from ..replacements import ModuleView, after_import

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class TextLines(io.TextIOBase):
    r"""The lines of UTF-8 text, each with ``\n`` at its end; carriage returns and NULs inside become spaces.

    Positions, unlike those of Python's text files, are plain numbers of bytes.

    Args:
        file: the text, opened for reading bytes.
    """

    def __init__(self, file):
        self._file = file
        self._is_at_start = True

    def readline(self, size=-1):
        """Return the next line, nothing at the end."""
        raw = self._file.readline()
        if self._is_at_start:
            raw = raw.removeprefix(BYTE_ORDER_MARK)
        self._is_at_start = False
        text = raw.rstrip(b"\r\n").replace(b"\r", b" ").replace(b"\0", b" ")
        return text.decode("utf-8") + ("\n" if raw.endswith(b"\n") else "")

    def seek(self, offset, whence=0):
        """Go to a byte, or to the first one of the character that it belongs to."""
        offset = self._file.seek(offset, whence)
        while offset and self._file.peek(1)[:1] and 0x80 <= self._file.peek(1)[0] < 0xC0:
            offset = self._file.seek(offset - 1)
        self._is_at_start = offset == 0
        return offset

    def tell(self):
        """Return how many bytes come before what is read next."""
        return self._file.tell()

    def fileno(self):
        """Return the number of the open file."""
        return self._file.fileno()

    def close(self):
        """Close the file."""
        self._file.close()
        super().close()


def count_lines(path):
    """Return how many lines a file has; the last one may lack its line feed."""
    with builtins.open(path, "rb") as file:
        return sum(1 for _ in file)


def open_text(path, mode="r", *args, **kwargs):
    """Do what ``open`` does, but give a :class:`TextLines` if a text is to be read."""
    if mode in ("r", "rt"):
        return TextLines(builtins.open(path, "rb"))
    return builtins.open(path, mode, *args, **kwargs)


def open_input(files, **_):
    """Do what ``fileinput.input`` does with one file, where ``-`` is standard input."""
    if files != ["-"]:
        return open_text(files[0])
    # A program may have put something without bytes in its place.
    return contextlib.nullcontext(TextLines(sys.stdin.buffer) if hasattr(sys.stdin, "buffer") else sys.stdin)


@after_import(*REPAIRS["repairs.text_lines"])
def hide_open(module):
    """Give the module a global ``open`` that hides Python's own."""
    module.open = open_text


@after_import("fairseq_cli.interactive")
def hide_input(interactive):
    """Give it lines of the same kind from files and standard input."""
    interactive.fileinput = ModuleView(interactive.fileinput, input=open_input)
