"""The synthetic corpus: sentence pairs from a synchronous grammar, with gold trees and alignments.

French–English and Chinese–English.

A meaning (:mod:`.meaning`) is composed at random (:mod:`.composer`) from a lexicon (:mod:`.lexicon`) and
realized in two languages (:mod:`.french`, :mod:`.english`, :mod:`.chinese`); words that express the same
part of it are aligned. Needs the standard library alone.

Example:
    >>> example = next(generate("fr-en", {"test": 1}, seed=1))
    >>> example.source_text, example.target_text, str(example.source_tree), example.alignment
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from .chinese import Chinese
from .composer import Composer
from .english import English
from .french import French
from .realizer import Leaf, Tree
from .sampling import Rng, Weighted

__all__ = ["LONGEST", "PAIRS", "SHORTEST", "SPLITS", "Example", "Leaf", "Tree", "detokenize", "generate"]

PAIRS = ("fr-en", "zh-en")
SPLITS = ("test", "valid", "train")
SHORTEST, LONGEST = 3, 60
_REALIZERS: dict[str, type[French | English | Chinese]] = {"fr": French, "en": English, "zh": Chinese}
_PATIENCE = 3000
_NO_SPACE_BEFORE = (".", ",", "'s", "'")
_NO_BREAK_SPACE = "\u00a0"


@dataclass(frozen=True)
class Example:
    """A sentence pair with its trees and alignment."""

    split: str  # train, valid or test
    source_tokens: list[str]  # the true-cased tokens of the source, the leaves of its tree
    target_tokens: list[str]  # those of the target
    source_tree: Tree  # the constituents of the source
    target_tree: Tree  # those of the target
    alignment: list[tuple[int, int]]  # pairs of positions in source and target, from 0, sorted
    source_text: str  # the source as people write it, with a capital letter and without tokenization
    target_text: str  # the target as people write it


def generate(pair: str, sizes: Mapping[str, int], seed: int = 1, *, max_words: int = LONGEST) -> Iterator[Example]:
    """Yields the sentence pairs of a corpus: those of test, then of valid, then of train.

    All sources are different, and no target of valid or test occurs in train. The same arguments give the
    same examples on every platform. Each split has a sequence of its own: a larger training set begins with
    the smaller one.

    Args:
        pair: one of PAIRS, source first.
        sizes: how many pairs for each of SPLITS; a split that is left out is empty.
        seed: a non-negative integer.
        max_words: the most tokens of a sentence, on either side; the fewest are 3.

    Raises:
        ValueError: fewer words than any sentence has.
        RuntimeError: the grammar cannot make so many different sentences of these lengths.
    """
    if max_words < SHORTEST:
        raise ValueError(f"the shortest sentences have {SHORTEST} tokens: no corpus has at most {max_words}")
    sources: set[tuple[str, ...]] = set()
    held_out: set[tuple[str, ...]] = set()
    for index, split in enumerate(SPLITS):
        drawn = _draw(pair, split, Rng(len(SPLITS) * seed + index), range(SHORTEST, max_words + 1))
        for made in range(sizes.get(split, 0)):
            for example in islice(drawn, _PATIENCE):
                if example is None:
                    continue
                source, target = tuple(example.source_tokens), tuple(example.target_tokens)
                if source not in sources and (split != "train" or target not in held_out):
                    break
            else:
                raise RuntimeError(
                    f"{split}: no new sentence pair of at most {max_words} words after {made} of {sizes[split]}: "
                    "ask for fewer sentences, or for longer ones"
                )
            sources.add(source)
            if split != "train":
                held_out.add(target)
            yield example


def _draw(pair: str, split: str, rng: Rng, lengths: range) -> Iterator[Example | None]:
    """Yields sentence pairs without end; None where what was drawn is too short or too long."""
    source, target = pair.split("-")
    composer = Composer(rng)
    wanted = Weighted(lengths, list(map(_length_weight, lengths)))
    while True:
        meaning = composer.sentence(wanted.draw(rng))
        source_tree = _REALIZERS[source]().sentence(meaning)
        target_tree = _REALIZERS[target]().sentence(meaning)
        source_leaves, target_leaves = list(source_tree.leaves()), list(target_tree.leaves())
        if len(source_leaves) not in lengths or len(target_leaves) not in lengths:
            yield None
            continue
        source_tokens = [leaf.token for leaf in source_leaves]
        target_tokens = [leaf.token for leaf in target_leaves]
        yield Example(
            split,
            source_tokens,
            target_tokens,
            source_tree,
            target_tree,
            _align(source_leaves, target_leaves),
            detokenize(source_tokens, source),
            detokenize(target_tokens, target),
        )


def _length_weight(length: int) -> float:
    """Returns how often sentences of a length are asked for: mostly 5 to 25 words, with a tail to 60."""
    excess = length - 2
    head = excess * excess + 30
    tail = 1 + (length / 20) * (length / 20)
    return excess * excess * excess / (head * head * tail * tail) + 0.0004


def _align(source: list[Leaf], target: list[Leaf]) -> list[tuple[int, int]]:
    """Returns the pairs of positions whose leaves share an anchor."""
    positions = defaultdict(list)
    for position, leaf in enumerate(target):
        for anchor in leaf.anchors:
            positions[anchor].append(position)
    return sorted(
        {(i, j) for i, leaf in enumerate(source) for anchor in leaf.anchors for j in positions.get(anchor, ())}
    )


def detokenize(tokens: Sequence[str], language: str) -> str:
    """Returns the text of true-cased tokens: spacing of the language, a capital letter at the start.

    French puts a no-break space (U+00A0) before a question mark; Chinese is written without spaces.
    """
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
