"""Constituency trees over tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

#: A node of the meaning and a role in it. Two tokens of a sentence pair that share one are aligned.
Anchor = tuple[object, str]


class Leaf:
    """One token under its part of speech.

    Attributes:
        label: part of speech: a Universal POS tag, or ``CLF`` for a Chinese measure word.
        token: the token.
        anchors: what the token expresses.
        liaison: the form taken before a vowel (*le* → *l'*, *a* → *an*), None where there is none.
    """

    __slots__ = ("anchors", "label", "liaison", "token")

    def __init__(self, label: str, token: str, *anchors: Anchor, liaison: str | None = None) -> None:
        self.label = label
        self.token = token
        self.anchors = anchors
        self.liaison = liaison

    def __str__(self) -> str:
        return f"({self.label} {self.token})"

    def leaves(self) -> Iterator[Leaf]:
        yield self


@dataclass(eq=False, slots=True)
class Tree:
    """A phrase: a label and one or more children, which are trees or leaves. Trees are n-ary.

    ``str(tree)`` is the bracketing of the Penn treebank on one line.
    """

    label: str
    children: list[Node]

    def __str__(self) -> str:
        return f"({self.label} {' '.join(map(str, self.children))})"

    def leaves(self) -> Iterator[Leaf]:
        for child in self.children:
            yield from child.leaves()

    def subtrees(self) -> Iterator[Tree]:
        """Yields this tree and every phrase below it, parents first."""
        yield self
        for child in self.children:
            if isinstance(child, Tree):
                yield from child.subtrees()


Node = Leaf | Tree
