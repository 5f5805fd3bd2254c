"""How text becomes the tokens that models read, and becomes text again: the one place that knows.

Raw text is split into words (Moses, or jieba for Chinese), words are segmented into pieces (BPE), and a translation
goes the same way back; SentencePiece does both steps at once. A run folder records its form in the file ``options``,
which may come from anyone.
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from itertools import pairwise
from os import PathLike
from pathlib import Path

from .characters import BEGINS, CONTINUES, lowercase, mark_unknown, normalize
from .data.words import make_known_word_splitter, make_tokenizer, require_splittable
from .languages import base_language, has_spaces, is_chinese
from .subwords import (
    END_OF_SENTENCE,
    clean,
    find_piece,
    load_bpe,
    load_sentencepiece,
    merge_pieces,
    word_numbers,
)
from .text_files import FileError, dictionary_folder, read_dictionary, read_lines

LOG = logging.getLogger(__name__)

#: What is read of the file ``options``, and what each line may say.
RECORDED = {
    "SOURCE_LANG": r"[A-Za-z_]+",
    "TARGET_LANG": r"[A-Za-z_]+",
    "SEGMENTATION": r"(word|bpe|sentencepiece):[1-9][0-9]*",
    "TOKENIZER": r"moses|none",
    "LOWERCASE": r"(yes)?",
    "TRUECASED": r"(yes)?",
}
REQUIRED = ("SOURCE_LANG", "TARGET_LANG", "SEGMENTATION")

#: Tokens of the longest sentences of a training text, unless an experiment says otherwise (`max_length`).
MOST_LEARNED = 250
#: A sentence of so many characters is unlike the training text if a character has so many times the bits. With the box
#: fr-en, a third of 1,000 English lines have twice as many, of Tatoeba as of news, and of French lines 0.3 and 0.6%.
SHORTEST_JUDGED, UNLIKE = 20, 2.0

#: Tokens of a sentence, at most: time and memory grow with the square of its length, and others have to wait.
LONGEST = 1000

#: The longest translation of n tokens is ``max_len_a`` n + ``max_len_b``.
LENGTH_LIMITS = {"max_len_a": 2, "max_len_b": 10}


@dataclass(frozen=True)
class TextForm:
    """From raw text to what a model reads, and back."""

    folder: Path  # of the run; its files are read when they are needed
    source: str  # language
    target: str  # language
    segmentation: str  # ``word``, ``bpe``, or ``sentencepiece``
    tokenizer: str  # ``moses`` or ``none``
    lowercase: bool  # whether models read lowercase
    #: whether the words are those of the synthetic corpus, which begin with a capital only where they always do
    truecased: bool
    size: int = 0  # words of a dictionary, merges, or pieces

    @classmethod
    def from_record(cls, record: Mapping[str, str], folder: str | PathLike[str]) -> TextForm:
        kind, _, size = record["SEGMENTATION"].partition(":")
        return cls(
            folder=Path(folder),
            source=record["SOURCE_LANG"],
            target=record["TARGET_LANG"],
            segmentation=kind,
            tokenizer=record.get("TOKENIZER", "moses"),
            lowercase=record.get("LOWERCASE") == "yes",
            truecased=record.get("TRUECASED") == "yes",
            size=int(size),
        )

    def record(self) -> dict[str, str]:
        """The lines about it in the file ``options``."""
        return {
            "SOURCE_LANG": self.source,
            "TARGET_LANG": self.target,
            "SEGMENTATION": f"{self.segmentation}:{self.size}",
            "TOKENIZER": self.tokenizer if self.has_words else "moses",
            "LOWERCASE": "yes" if self.lowercase else "",
            "TRUECASED": "yes" if self.truecased else "",
        }

    def describe(self) -> dict[str, str | int | bool]:
        """What of it decides how a corpus is named; other words would give existing corpora new names."""
        return {
            "segmentation": self.segmentation,
            "size": self.size,
            "words": self.split_action,
            "lowercase": self.lowercase,
            "detokenizer": self.join_command,
        }

    @property
    def name(self) -> str:
        """Kind and size in paths, such as ``bpe-4000``."""
        return f"{self.segmentation}-{self.size}"

    @property
    def model(self) -> Path:
        """The file of the model that splits words into pieces."""
        return self.folder / "text" / "segmentation.model"

    @property
    def scheme(self) -> str | None:
        """How pieces are marked, as `subwords` calls it; None where models read words."""
        return None if self.segmentation == "word" else self.segmentation

    @property
    def has_words(self) -> bool:
        """Whether text is words before it is pieces; SentencePiece reads raw text."""
        return self.segmentation != "sentencepiece"

    @property
    def splits_words(self) -> bool:
        """Whether a tokenizer separates the words of raw text."""
        return self.tokenizer == "moses" and self.has_words

    def require_splittable(self) -> None:
        """Raises ValueError for an unknown language, and for one whose words no tokenizer here separates."""
        for language in (self.source, self.target):
            # Asked in any case: a code that is unknown is refused before any work is done.
            require_splittable(language, tokenized=self.splits_words)

    # Functions of a line.

    def split(self, text: str, language: str) -> str:
        """Splits raw text in one of the two languages into words, with spaces between them."""
        if language not in self._splitters:
            self._splitters[language] = self._make_splitter(language)
        words = self._splitters[language](text)
        return lowercase(words, language) if self.lowercase else words

    def segment(self, words: str) -> str:
        """Splits words into what the model reads."""
        return self._segmenter(words)

    def read(self, text: str, language: str) -> str:
        """What the model reads of raw text. A warning is logged, once, if the text looks as if it were that already."""
        if self.segmentation == "bpe" and not self._has_warned and (piece := find_piece(text)):
            self._has_warned.append(piece)
            LOG.warning(
                "the word %s ends in %s, as subwords of BPE do: text is split into words and subwords here, so give "
                "raw text, not what fairseq-preprocess reads",
                piece,
                CONTINUES,
            )
        return self.segment(self.split(text, language)).strip()

    def unfamiliar(self, tokens: str) -> str | None:
        """What in a sentence the model has not learned to read, in a few words; None if nothing, and without pieces.

        Where words are not split, unknown ones are usual. Names and other languages are split into more and rarer
        pieces than the training text, whose mean the dictionary tells; a joint one tells that of both languages.
        """
        if self.scheme is None:
            return None
        pieces = tokens.split()
        new = next((place for place, piece in enumerate(pieces) if piece not in self._known), None)
        if new is not None:
            marked = self.mark_words(pieces, self.source)
            numbers = word_numbers(marked, self.scheme)
            return f"{unescape(merge_pieces(marked, numbers, self.scheme)[numbers[new]])} is new to the model"
        if len(pieces) > MOST_LEARNED:
            return f"{len(pieces)} tokens, and it has learned from {MOST_LEARNED} at most"
        characters = sum(len(clean(piece, self.scheme)) for piece in pieces)
        if characters >= SHORTEST_JUDGED and self._bits(Counter(pieces)) > UNLIKE * self._usual_bits:
            return "unlike what it has learned from: names, or another language?"
        return None

    @cached_property
    def _usual_bits(self) -> float:
        return self._bits(self._known)

    @cached_property
    def _total(self) -> int:
        return sum(self._known.values())

    def _bits(self, counts: Mapping[str, int]) -> float:
        """The mean information of a character, in bits, where each piece is as probable as in the dictionary."""
        bits = sum(count * math.log2(self._total / max(self._known[piece], 1)) for piece, count in counts.items())
        return bits / max(sum(count * len(clean(piece, self.scheme)) for piece, count in counts.items()), 1)

    @cached_property
    def _known(self) -> Mapping[str, int]:
        return read_dictionary(dictionary_folder(self.folder / "data") / f"dict.{self.source}.txt")

    @cached_property
    def _has_warned(self) -> list[str]:
        return []

    def mark_words(self, pieces: Sequence[str], language: str) -> list[str]:
        """Pieces for people: where a language has no spaces, SentencePiece's begin a word each, or all would be one."""
        if self.scheme != "sentencepiece" or has_spaces(language):
            return list(pieces)
        begun = (piece == END_OF_SENTENCE or BEGINS in (piece[:1], before) for before, piece in pairwise(["", *pieces]))
        return [piece if has_begun else BEGINS + piece for piece, has_begun in zip(pieces, begun)]

    def merge(self, pieces: Sequence[str]) -> list[str]:
        return merge_pieces(pieces, word_numbers(pieces, self.scheme), self.scheme)

    def write(self, pieces: Sequence[str]) -> str:
        """From what the model writes to text: its pieces are merged, its words joined."""
        return self.join(" ".join(self.merge(pieces)))

    def join(self, words: str) -> str:
        """From the words of a translation to text in the form in which the run's references came."""
        return self._joiner(mark_unknown(words)).strip()

    @cached_property
    def _splitters(self) -> dict[str, Callable[[str], str]]:
        return {}

    def _make_splitter(self, language: str) -> Callable[[str], str]:
        if self.truecased:
            return make_known_word_splitter(language, self.count_known_words(language))
        return make_tokenizer(language).tokenize if self.splits_words else normalize

    def count_known_words(self, language: str) -> Mapping[str, int]:
        """The words of a corpus that came with its own: the dictionary's, or, if that has pieces, the training text's.

        Raises:
            FileError: if neither is there.
        """
        if self.segmentation == "word":
            return read_dictionary(dictionary_folder(self.folder / "data") / f"dict.{language}.txt")
        lines = read_lines(self.folder / "text" / "words" / f"train.{language}")
        return Counter(word for _, text in lines for word in text.split())

    @cached_property
    def _segmenter(self) -> Callable[[str], str]:
        if self.segmentation == "word":
            return str
        return (load_bpe if self.segmentation == "bpe" else load_sentencepiece)(self.model)

    @cached_property
    def _joiner(self) -> Callable[[str], str]:
        if not (self.splits_words or self.truecased):
            return str
        detokenize = make_tokenizer(self.target).detokenize
        if not self.truecased:
            return detokenize
        from sacremoses import MosesDetruecaser

        detruecase = MosesDetruecaser().detruecase
        return lambda words: detokenize(detruecase(words, return_str=True))

    # Commands of the workflow: the same for whole files.

    @property
    def split_action(self) -> str:
        """What ``recurrent-mt words`` does to raw text."""
        return "split" if self.splits_words else "normalize"

    def split_command(self, language: str) -> str:
        """Splits raw text into words; otherwise only characters and spaces are normalized."""
        # What is joined after BPE must not have been split by another BPE before.
        whole = " --whole-words" if self.segmentation == "bpe" and not self.splits_words else ""
        lowercase = " --lowercase" if self.lowercase else ""
        return f"recurrent-mt words {self.split_action} --language {language}{whole}{lowercase}"

    @property
    def learns_from_one_file(self) -> bool:
        """Whether the pieces are learned from both sides in one file."""
        return self.segmentation == "bpe"

    def learn_command(self, texts: object, model: object, threads: int) -> str:
        """Learns merges, or pieces, on both sides."""
        if self.segmentation == "bpe":
            # The command subword-nmt has --num-workers, too, and does not use it. With --output, it ends with status 0
            # on a full disk.
            learn = f"python -m subword_nmt.learn_bpe --symbols {self.size} --num-workers {threads}"
            return f"{learn} --input {texts} > {model}"
        return f"recurrent-mt sentencepiece train --size {self.size} --model {model} {texts}"

    def segment_command(self, words: object, model: object, threads: int) -> str:
        """Splits the words of a file into pieces."""
        if self.segmentation == "sentencepiece":
            return f"recurrent-mt sentencepiece encode --model {model} --jobs {threads} < {words}"
        return f"recurrent-mt words segment --codes {model} --jobs {threads} < {words}"

    @property
    def join_command(self) -> str:
        """Turns the words of translations into text, as `join` does but for unknown words."""
        if not (self.splits_words or self.truecased):
            return "cat"
        if self.truecased and not is_chinese(self.target):
            return f"sacremoses --quiet --language {base_language(self.target)} detruecase detokenize"
        return f"recurrent-mt words join --language {self.target}"

    # Options of other programs.

    @property
    def vocabulary_flags(self) -> list[str]:
        """fairseq-preprocess: the dictionaries' limits, where words are not split."""
        size = str(self.size)
        return ["--nwordssrc", size, "--nwordstgt", size] if self.segmentation == "word" else []

    def search_flags(self, plugin: str | PathLike[str]) -> list[str]:
        """fairseq-generate and fairseq-interactive: the task, the languages, and the limits of every search."""
        limits = [word for key, value in LENGTH_LIMITS.items() for word in (f"--{key.replace('_', '-')}", str(value))]
        task = ["--user-dir", str(plugin), "--task", "native_translation"]
        languages = ["--source-lang", self.source, "--target-lang", self.target]
        return [*task, *languages, *limits, "--max-tokens", "4000", "--num-workers", "0", "--no-progress-bar"]

    @property
    def merge_flags(self) -> list[str]:
        """fairseq-generate and fairseq-interactive: how pieces become words."""
        flags: dict[str, list[str]] = {
            "word": [],
            "bpe": ["--remove-bpe"],
            "sentencepiece": ["--remove-bpe", "sentencepiece"],
        }
        return flags[self.segmentation]

    @property
    def figure_flags(self) -> list[str]:
        """``recurrent-mt align`` and ``structure``: how pieces are marked."""
        return ["--segmentation", self.scheme] if self.scheme else []


def read_text_form(folder: str | PathLike[str]) -> TextForm:
    """Reads a run folder's file; every value is checked, and nothing else is taken from it.

    Raises:
        FileError: if there is no such file, or it has a line that no recipe writes.
    """
    file = Path(folder) / "options"
    if not file.is_file():
        fault = "it has no file named options" if Path(folder).is_dir() else "there is no such folder"
        raise FileError(folder, f"{fault}: is this the out=DIR folder of an experiment?")
    record = {}
    for number, line in read_lines(file):
        name, _, value = line.partition(" ")
        if name not in RECORDED:
            continue
        if not re.fullmatch(RECORDED[name], value):
            raise FileError(file, f"no recipe writes this: {name} {value[:80]}", line=number)
        record[name] = value
    missing = [name for name in REQUIRED if name not in record]
    if missing:
        raise FileError(file, f"it has no line {', '.join(missing)}: no recipe wrote it")
    return TextForm.from_record(record, folder)
