"""Subwords: words split into pieces by BPE or SentencePiece, and the pieces of a sentence put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from os import PathLike

from .characters import BEGINS, CONTINUES, ESCAPED_CHARACTER

END_OF_SENTENCE = "</s>"
SCHEMES = ("bpe", "sentencepiece")


def word_numbers(pieces: Sequence[str], scheme: str | None) -> list[int]:
    """For each piece of a sentence the number of its word, from 0; without a scheme, every piece is a word.

    ``</s>`` is a word of its own.
    """
    if scheme is None:
        return list(range(len(pieces)))
    if scheme == "bpe":
        new = [piece == END_OF_SENTENCE or not before.endswith(CONTINUES) for before, piece in pairwise(pieces)]
    else:
        # SentencePiece may put the mark alone before a piece of its own: "▁", "中国".
        new = [piece == END_OF_SENTENCE or piece.startswith(BEGINS) for piece in pieces[1:]]
    return list(accumulate(new, initial=0))[: len(pieces)]


def find_scheme(sentences: Sequence[Sequence[str]]) -> str | None:
    """The scheme whose pieces sentences are: SentencePiece marks the first of most, BPE some; None without marks."""
    first = [tokens[0].startswith(BEGINS) for tokens in sentences if tokens]
    if 2 * sum(first) > len(first):
        return "sentencepiece"
    return "bpe" if any(token.endswith(CONTINUES) for tokens in sentences for token in tokens) else None


def require_scheme(sentences: Iterable[Sequence[str]], scheme: str | None) -> None:
    """Checks that tokens are the pieces of a scheme: with another's, words would be counted that are none.

    Raises:
        ValueError: if they have the marks of another, or, as SentencePiece marks every word, none.
    """
    tokens = [token for sentence in sentences for token in sentence if token != END_OF_SENTENCE]
    begins = any(token.startswith(BEGINS) for token in tokens)
    continues = any(token.endswith(CONTINUES) for token in tokens)
    if tokens and ((scheme == "sentencepiece" and not begins) or (scheme == "bpe" and begins and not continues)):
        found = "sentencepiece" if begins else "bpe" if continues else "no segmentation"
        raise ValueError(f"--segmentation {scheme}: the tokens have the marks of {found}")


def merge_pieces(pieces: Sequence[str], numbers: Sequence[int], scheme: str | None) -> list[str]:
    """The words of a sentence, without the marks of their pieces, whose numbers `word_numbers` gives."""
    words = [""] * (numbers[-1] + 1 if numbers else 0)
    for piece, number in zip(pieces, numbers, strict=True):
        words[number] += clean(piece, scheme)
    return words


def find_piece(text: str) -> str | None:
    """The first word of a text that ends in BPE's mark, as only what BPE has split usually does."""
    return next((word for word in text.split() if word.endswith(CONTINUES)), None) if CONTINUES in text else None


def clean(piece: str, scheme: str | None) -> str:
    """A piece without its mark."""
    if scheme == "bpe":
        return piece.removesuffix(CONTINUES)
    return piece.removeprefix(BEGINS) if scheme == "sentencepiece" else piece


def load_bpe(codes: str | PathLike[str]) -> Callable[[str], str]:
    """The function from a line of words to its pieces, by subword-nmt's file of merges.

    A word that is a character as Moses escapes it, such as ``&amp;``, stays whole.

    Raises:
        ValueError: if the file holds something else.
        OSError: if it cannot be read.
    """
    from subword_nmt.apply_bpe import BPE

    try:
        # Some editors put a byte order mark before the line that names the version; without that, words end otherwise.
        with open(codes, encoding="utf-8-sig") as file:
            return BPE(file, glossaries=[f"^{ESCAPED_CHARACTER}$"]).process_line
    except (UnicodeDecodeError, SystemExit) as error:  # subword-nmt ends the process
        raise ValueError(f"{codes} is no file of subword-nmt's codes") from error


def load_sentencepiece(model: str | PathLike[str]) -> Callable[[str], str]:
    """The function from a line to its pieces, by a SentencePiece model.

    Raises:
        ValueError: if the file is missing or holds something else.
    """
    from sentencepiece import SentencePieceProcessor

    try:
        processor = SentencePieceProcessor(model_file=str(model))
    except (RuntimeError, OSError) as error:
        raise ValueError(f"{model} is missing, or no SentencePiece model") from error
    return lambda line: " ".join(processor.encode(line, out_type=str))
