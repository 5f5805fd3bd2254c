"""Writes a fairseq checkpoint of a GroundHog model, with dictionaries."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, is_zipfile

import numpy as np
import torch
from fairseq import options, tasks
from fairseq.data import Dictionary
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from omegaconf import OmegaConf
from torch import Tensor

from .groundhog import Parameters, model_flags, read_parameters, state_dict

#: GroundHog's id of the unknown word; the end of the sentence has the last id.
UNKNOWN = 1
#: What numpy and zipfile raise at a damaged archive.
DAMAGE = (
    *(ValueError, TypeError, EOFError, OSError, BadZipFile, zlib.error, struct.error),
    *(RuntimeError, NotImplementedError, LookupError, MemoryError, OverflowError, SyntaxError),
)


def import_model(
    parameters: Path,
    save_dir: Path,
    *,
    source_words: Path | None = None,
    target_words: Path | None = None,
    grconv_activation: str = "relu",
) -> str:
    """Turns the parameters of a GroundHog model into what fairseq loads.

    Writes ``dict.src.txt``, ``dict.tgt.txt`` and, last, ``checkpoint.pt`` into ``save_dir``, and a file from whose name
    fairseq's commands infer the languages.

    Args:
        parameters: an ``.npz`` file of arrays under GroundHog's names.
        save_dir: made if it is missing.
        source_words: a word a line, line i for id i (from 0); without it the word of id i is ``str(i)``.
        target_words: likewise.
        grconv_activation: φ of a grConv model, which its parameters do not tell.

    Returns:
        The kind of the model.

    Raises:
        ValueError: if the parameters or the words are not those of such a model.
        FileNotFoundError: if a file is missing.
    """
    read = read_file(parameters)
    save_dir.mkdir(parents=True, exist_ok=True)
    rows = {}
    for side, size, words in (("src", read.sizes["S"], source_words), ("tgt", read.sizes["T"], target_words)):
        dictionary, rows[side] = build_dictionary(read_words(words, size) if words else None, size)
        dictionary.save(str(save_dir / f"dict.{side}.txt.partial"))
        os.replace(save_dir / f"dict.{side}.txt.partial", save_dir / f"dict.{side}.txt")
        symbols = len(dictionary) - size
    languages = save_dir / "languages.src-tgt.txt"
    languages.write_text("fairseq infers the source and the target language from this file's name.\n")
    state = state_dict(read, rows["src"], rows["tgt"], symbols=symbols)
    flags = model_flags(read, grconv_activation=grconv_activation)
    torch.save(build_checkpoint(save_dir.resolve(), flags, state), save_dir / "checkpoint.pt.partial")
    os.replace(save_dir / "checkpoint.pt.partial", save_dir / "checkpoint.pt")
    return read.kind


def read_file(path: Path) -> Parameters:
    """The checked parameters of an ``.npz`` file.

    Raises:
        ValueError: naming the file, if it is something else or its parameters are not those of such a model.
        FileNotFoundError: if there is no such file.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if not is_zipfile(path):
        raise ValueError(f"{path} is not an .npz file of arrays")
    try:
        with np.load(path, allow_pickle=False) as file:
            return read_parameters(dict(file))
    except DAMAGE as error:
        raise ValueError(f"{path}: {error}") from error


def build_checkpoint(data: Path, flags: Sequence[str], state: Mapping[str, Tensor]) -> dict[str, Any]:
    """A checkpoint in fairseq's form, of a model that these flags of fairseq-train build.

    Args:
        data: the folder of the dictionaries.
        flags: of the model.
        state: its parameters; they must be all there, and no others.
    """
    task_flags = [str(data), "--source-lang", "src", "--target-lang", "tgt", "--optimizer", "adadelta"]
    arguments = options.parse_args_and_arch(options.get_training_parser(), [*task_flags, *flags])
    config = convert_namespace_to_omegaconf(arguments)
    model = tasks.setup_task(config.task).build_model(config.model)
    model.load_state_dict(state)
    return {
        "args": None,
        "cfg": OmegaConf.to_container(config, resolve=True, enum_to_str=True),
        "model": model.state_dict(),
        # fairseq looks at the last entry even where there was no training.
        "optimizer_history": [{"lr_scheduler_state": {}, "num_updates": 0}],
        "extra_state": {"train_iterator": {"epoch": 1, "iterations_in_epoch": 0}},
        "last_optimizer_state": None,
    }


def read_words(path: Path, size: int) -> list[str]:
    """The words of a file, one a line.

    Raises:
        ValueError: if there are not ``size`` of them, or one is empty, has a space in it or comes twice.
    """
    try:
        words = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from error
    if words[-1] == "":
        words.pop()
    if len(words) != size:
        raise ValueError(f"{path} has {len(words)} lines, but the model has {size} words on that side")
    first: dict[str, int] = {}
    for line, word in enumerate(words, start=1):
        # What stands at the two reserved ids does not matter.
        if line - 1 in (UNKNOWN, size - 1):
            continue
        if not word or word.split() != [word]:
            raise ValueError(f"{path}, line {line}: {word!r} is not one word")
        if word in first:
            raise ValueError(f"{path}, line {line}: {word!r} stands on line {first[word]} already")
        first[word] = line
    return words


def build_dictionary(words: Sequence[str] | None, size: int) -> tuple[Dictionary, Tensor]:
    """Our dictionary of GroundHog's words, and for each of its ids (size,) our index.

    Raises:
        ValueError: if a word is one of fairseq's own symbols.
    """
    dictionary = Dictionary()
    rows = torch.empty(size, dtype=torch.long)
    for index in range(size):
        if index == UNKNOWN:
            rows[index] = dictionary.unk()
        elif index == size - 1:
            rows[index] = dictionary.eos()
        else:
            word = words[index] if words else str(index)
            if word in dictionary:
                raise ValueError(f"word id {index} is {word!r}, which fairseq keeps for itself: rename it")
            # fairseq's files hold counts; a falling one keeps the order of the ids.
            rows[index] = dictionary.add_symbol(word, n=size - index)
    return dictionary, rows
