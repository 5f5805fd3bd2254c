"""Reads gold trees in the brackets of the Penn treebank, one a line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike

from ...text_files import FileError, read_lines
from .spans import Spans

TOKEN = re.compile(r"[()]|[^\s()]+")
ESCAPES = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
#: The label of traces, which are no words.
TRACE = "-NONE-"


@dataclass(frozen=True)
class GoldTree:
    """A tree without labels.

    Attributes:
        words: the leaves, brackets among them unescaped (``-LRB-`` is ``(``), traces left out.
        spans: the phrases of at least two words; the tree need not be binary.
    """

    words: tuple[str, ...]
    spans: Spans


def read_penn_trees(path: str | PathLike[str]) -> list[GoldTree]:
    """Reads a file of trees.

    Raises:
        FileError: naming the line that is not one whole tree.
    """
    trees = []
    for line, text in read_lines(path):
        try:
            trees.append(parse_penn_tree(text))
        except ValueError as error:
            raise FileError(path, str(error), line=line) from error
    return trees


def parse_penn_tree(text: str) -> GoldTree:
    """Reads ``(S (NP (DT the) (NN dog)) (VP (VBZ barks)))``; labels may be missing, as in ``( (S …))``.

    Raises:
        ValueError: if the brackets do not pair, or if there is more or less than one tree.
    """
    words: list[str] = []
    spans = set()
    # For each open bracket: how many words came before it, and what stands in it besides brackets.
    open_brackets: list[tuple[int, list[str]]] = []
    closed = None
    for token in TOKEN.findall(text):
        if closed and not open_brackets:
            raise ValueError(f"{token!r} after the end of the tree")
        if token == "(":
            open_brackets.append((len(words), []))
        elif not open_brackets:
            raise ValueError(f"{token!r} outside of brackets")
        elif token == ")":
            first, own = open_brackets.pop()
            add_word(own, words, is_leaf=not closed)
            if len(words) - first > 1:
                spans.add((first, len(words)))
        else:
            open_brackets[-1][1].append(token)
        if token in "()":
            closed = token == ")"
    if open_brackets:
        raise ValueError(f"{len(open_brackets)} bracket(s) are not closed")
    if closed is None:
        raise ValueError("no tree on this line")
    return GoldTree(tuple(words), frozenset(spans))


def add_word(own: list[str], words: list[str], *, is_leaf: bool) -> None:
    """Adds the word of a leaf, ``LABEL WORD``, whose bracket closes; checks the label of a phrase.

    Raises:
        ValueError: if the bracket holds neither a word under its label nor phrases under one.
    """
    if len(own) > 1 + is_leaf or (is_leaf and len(own) < 2):
        expected = "a label and a word" if is_leaf else "one label before the phrases"
        raise ValueError(f"expected {expected} in a bracket, but found {' '.join(own)!r}")
    if is_leaf and own[0] != TRACE:
        words.append(ESCAPES.get(own[1], own[1]))
