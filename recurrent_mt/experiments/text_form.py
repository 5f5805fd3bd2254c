"""How the text of a run folder is read and joined again: its file ``options``, which may come from anyone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ..text_files import FileError, read_lines

#: What is read of the file, and what each line may say.
RECORDED = {
    "SOURCE_LANG": r"[A-Za-z_]+",
    "TARGET_LANG": r"[A-Za-z_]+",
    "SEGMENTATION": r"(word|bpe|sentencepiece):[1-9][0-9]*",
    "TOKENIZER": r"moses|none",
    "LOWERCASE": r"(yes)?",
    "TRUECASED": r"(yes)?",
}
REQUIRED = ("SOURCE_LANG", "TARGET_LANG", "SEGMENTATION")


@dataclass(frozen=True)
class TextForm:
    """From raw text to what a model reads, and back.

    Attributes:
        folder: of the run.
        source: language.
        target: language.
        segmentation: ``word``, ``bpe``, or ``sentencepiece``.
        tokenizer: ``moses`` or ``none``.
        lowercase: whether models read lowercase.
        truecased: whether words of the target begin with a capital only where they always do.
    """

    folder: Path
    source: str
    target: str
    segmentation: str
    tokenizer: str
    lowercase: bool
    truecased: bool

    @property
    def model(self) -> Path:
        """The file of the model that splits words."""
        return self.folder / "text" / "segmentation.model"

    @property
    def splits_words(self) -> bool:
        """Whether a tokenizer separates the words of raw text."""
        return self.tokenizer == "moses" and self.segmentation != "sentencepiece"


def read_text_form(folder: str | PathLike[str]) -> TextForm:
    """Reads a run folder's file; every value is checked, and nothing else is taken from it.

    Raises:
        FileError: if there is no such file, or it has a line that no recipe writes.
    """
    file = Path(folder) / "options"
    if not file.is_file():
        raise FileError(folder, "it has no file named options: is this the out=DIR folder of a recipe?")
    found = {"TOKENIZER": "moses"}
    for number, line in read_lines(file):
        name, _, value = line.partition(" ")
        if name not in RECORDED:
            continue
        if not re.fullmatch(RECORDED[name], value):
            raise FileError(file, f"no recipe writes this: {name} {value[:80]}", line=number)
        found[name] = value
    missing = [name for name in REQUIRED if name not in found]
    if missing:
        raise FileError(file, f"it has no line {missing[0]}: no recipe wrote it")
    return TextForm(
        folder=Path(folder),
        source=found["SOURCE_LANG"],
        target=found["TARGET_LANG"],
        segmentation=found["SEGMENTATION"].partition(":")[0],
        tokenizer=found["TOKENIZER"],
        lowercase=found.get("LOWERCASE") == "yes",
        truecased=found.get("TRUECASED") == "yes",
    )
