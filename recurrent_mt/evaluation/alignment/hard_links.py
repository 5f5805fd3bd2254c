"""Links between words: out of a soft alignment, and gold ones from a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike

from ...text_files import FileError, read_lines
from .soft_alignment import SoftAlignment

#: (source word, target word), from 0.
Link = tuple[int, int]

LINK = re.compile(r"(\d+)([-?])(\d+)")


@dataclass(frozen=True)
class GoldLinks:
    """The links of one sentence pair as people or a grammar made them.

    Attributes:
        sure: links that an alignment must have.
        possible: links that it may have; the sure ones are among them.
    """

    sure: frozenset[Link]
    possible: frozenset[Link]


def hard_links(alignment: SoftAlignment) -> frozenset[Link]:
    """Links each target word to the source word that it attends to most, the first of equals.

    ``</s>`` takes no part on either side, so that every target word has one link: as in fairseq's
    ``--print-alignment hard``.
    """
    if not alignment.source_words:
        return frozenset()
    best = alignment.weights[: alignment.target_words, : alignment.source_words].argmax(axis=1)
    return frozenset((source, target) for target, source in enumerate(best.tolist()))


def read_gold_links(path: str | PathLike[str]) -> list[GoldLinks]:
    """Reads links, the pairs of one sentence a line: ``0-0 1-2 2?1``, source first, from 0.

    A link with ``-`` is sure, one with ``?`` possible. In a file without ``?``, as the embedded corpus's, every link is
    sure, and there are no other possible ones.

    Raises:
        FileError: naming the line of something else.
    """
    sentences = []
    for line, text in read_lines(path):
        sure, possible = set(), set()
        for word in text.split():
            match = LINK.fullmatch(word)
            if not match:
                raise FileError(path, f"expected links such as 0-0 or 2?1, but found {word!r}", line=line)
            link = int(match[1]), int(match[3])
            possible.add(link)
            if match[2] == "-":
                sure.add(link)
        sentences.append(GoldLinks(frozenset(sure), frozenset(possible)))
    return sentences
