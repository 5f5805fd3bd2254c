"""Writes a GroundHog model as a fairseq checkpoint with dictionaries."""

from __future__ import annotations

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

from recurrent_mt.text_files import read_lines, write_aside

from .groundhog import Parameters, model_flags, read_parameters, state_dict
from .model_file import write_model

#: GroundHog's id of the unknown word; the end of sentence has the last id.
UNKNOWN = 1
#: What numpy and zipfile raise for a damaged archive.
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
    """Turns the parameters of a GroundHog model into files that fairseq loads.

    Writes ``dict.src.txt``, ``dict.tgt.txt``, and a file from whose name fairseq's commands infer the languages into
    ``save_dir``; ``checkpoint.pt`` comes last.

    Args:
        parameters: an ``.npz`` file of arrays under GroundHog's names.
        save_dir: created if missing.
        source_words: one word per line, line i for id i (from 0); without it, the word of id i is ``str(i)``.
        target_words: the same for the target.
        grconv_activation: φ of a grConv model, which its parameters do not reveal.

    Returns:
        The kind of the model.

    Raises:
        ValueError: if the parameters or the words do not fit such a model.
        FileNotFoundError: if a file is missing.
    """
    read = read_file(parameters)
    save_dir.mkdir(parents=True, exist_ok=True)
    rows = {}
    for side, size, words in (("src", read.sizes["S"], source_words), ("tgt", read.sizes["T"], target_words)):
        dictionary, rows[side] = build_dictionary(read_words(words, size) if words else None, size)
        with write_aside(save_dir / f"dict.{side}.txt") as partial:
            dictionary.save(str(partial))
        symbols = len(dictionary) - size
    languages = save_dir / "languages.src-tgt.txt"
    languages.write_text("fairseq infers the source and the target language from this file's name.\n")
    state = state_dict(read, rows["src"], rows["tgt"], symbols=symbols)
    flags = model_flags(read, grconv_activation=grconv_activation)
    config, model = build_model(save_dir.resolve(), flags, state)
    write_model(save_dir / "checkpoint.pt", config, model, state={"args": None})
    return read.kind


def read_file(path: Path) -> Parameters:
    """The checked parameters of an ``.npz`` file.

    Raises:
        ValueError: naming the file, if it is something else or its parameters do not fit such a model.
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


def build_model(data: Path, flags: Sequence[str], state: Mapping[str, Tensor]) -> tuple[Any, dict[str, Tensor]]:
    """The options and the parameters of the model that these fairseq-train flags build.

    Args:
        data: the folder with the dictionaries.
        flags: the model's.
        state: its parameters: all of them, and no others.
    """
    task_flags = [str(data), "--source-lang", "src", "--target-lang", "tgt", "--optimizer", "adadelta"]
    arguments = options.parse_args_and_arch(options.get_training_parser(), [*task_flags, *flags])
    config = convert_namespace_to_omegaconf(arguments)
    model = tasks.setup_task(config.task).build_model(config.model)
    model.load_state_dict(state)
    return OmegaConf.to_container(config, resolve=True, enum_to_str=True), model.state_dict()


def read_words(path: Path, size: int) -> list[str]:
    """The words in a file, one per line.

    Raises:
        FileError: if the file is missing or not UTF-8.
        ValueError: if there are not ``size`` of them, or if one is empty, contains a space, or appears twice.
    """
    words = [text for _, text in read_lines(path)]
    if len(words) != size:
        raise ValueError(f"{path} has {len(words)} lines, but the model has {size} words on that side")
    first: dict[str, int] = {}
    for line, word in enumerate(words, start=1):
        # The words at the two reserved ids do not matter.
        if line - 1 in (UNKNOWN, size - 1):
            continue
        if not word or word.split() != [word]:
            raise ValueError(f"{path}, line {line}: {word!r} is not one word")
        if word in first:
            raise ValueError(f"{path}, line {line}: {word!r} is already on line {first[word]}")
        first[word] = line
    return words


def build_dictionary(words: Sequence[str] | None, size: int) -> tuple[Dictionary, Tensor]:
    """Our dictionary of GroundHog's words, and our index for each of its ids (size,).

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
                raise ValueError(f"word id {index} is {word!r}, which fairseq reserves: rename it")
            # fairseq's files hold counts; decreasing counts keep the order of the ids.
            rows[index] = dictionary.add_symbol(word, n=size - index)
    return dictionary, rows
