"""A folder that ``recurrent-mt export`` has written, ready to encode sentences and to score their next words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime

from ..text_files import FileError, read_layout, read_lines

#: The layout of the folder that this program reads.
FORMAT = "recurrent-mt-onnx-1"

#: The symbols whose numbers the manifest has.
SPECIAL = ("<pad>", "</s>", "<unk>")

#: What hypotheses carry from step to step, by name; rows are hypotheses.
State = dict[str, np.ndarray]


class Sources(NamedTuple):
    """Encoded sentences.

    Attributes:
        keys: (B, S', A) what attention compares with.
        values: (B, S', P) what it reads.
        present: (B, S') False where a shorter sentence has nothing.
    """

    keys: np.ndarray
    values: np.ndarray
    present: np.ndarray

    def select(self, sentences: np.ndarray) -> Sources:
        """Selects the states of some of the sentences."""
        return Sources(*(array[sentences] for array in self))


class OnnxModel:
    """A translation model.

    Attributes:
        source_words: the number of each source word.
        target_words: the target words, by number.
        pad: the number of ``<pad>`` in both languages.
        eos: the number of ``</s>``.
        unk: the number of ``<unk>``.
        longest_source: the most words of a source, ``</s>`` included.
        longest_target: the most words of a translation.
    """

    def __init__(self, folder: str | Path, *, threads: int = 0) -> None:
        """Loads a model.

        Args:
            folder: as written by ``recurrent-mt export``.
            threads: how many processor threads to use; 0: onnxruntime decides.

        Raises:
            FileError: if a file is missing or damaged, or was written by another version of this program.
        """
        folder = Path(folder)
        manifest = read_manifest(folder / "manifest.json")
        self._encoder, self._decoder = (_load(folder / f"{name}.onnx", threads) for name in ("encoder", "decoder"))
        self._state_names: list[str] = manifest["state"]
        source, self.target_words = (
            [word for _, word in read_lines(folder / f"{side}.txt")] for side in ("source", "target")
        )
        self.pad, self.eos, self.unk = (manifest["special"][name] for name in SPECIAL)
        # A text has no padding: a literal <pad> is a word that no model knows, as it is with fairseq-compat.
        self.source_words = {word: number for number, word in enumerate(source) if number != self.pad}
        self.longest_source, self.longest_target = manifest["longest_source"], manifest["longest_target"]

    def numbers(self, text: str) -> np.ndarray:
        """The numbers of space-separated words, with ``</s>`` at the end."""
        words = [self.source_words.get(word, self.unk) for word in text.split()]
        return np.array([*words, self.eos], dtype=np.int64)

    def encode(self, sentences: Sequence[np.ndarray]) -> tuple[Sources, State]:
        """Sentences, each as numbers, and the state before the first word of one hypothesis for each."""
        names = ["keys", "values", *self._state_names]
        encoded = [dict(zip(names, self._encoder.run(names, {"words": words}))) for words in sentences]
        width = max(len(one["keys"]) for one in encoded)
        keys, values = (
            np.stack([np.pad(one[name], ((0, width - len(one[name])), (0, 0))) for one in encoded])
            for name in ("keys", "values")
        )
        present = np.arange(width) < np.array([len(one["keys"]) for one in encoded])[:, None]
        state = {name: np.concatenate([one[name] for one in encoded]) for name in self._state_names}
        return Sources(keys, values, present), state

    def step(self, words: np.ndarray, sources: Sources, state: State) -> tuple[np.ndarray, State]:
        """The log-probabilities (N, V) of the words that follow, and the next state.

        Args:
            words: (N,) the last words, ``</s>`` before the first; as many hypotheses for each sentence, in turn.
            sources: B sentences.
            state: of N hypotheses.
        """
        names = ["log_probabilities", *(f"next_{name}" for name in self._state_names)]
        scores, *following = self._decoder.run(names, {"word": words, **sources._asdict(), **state})
        return scores, dict(zip(self._state_names, following))


def _load(path: Path, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own have no common class
        raise FileError(path, f"this is no model that onnxruntime can load: {error}") from error


def read_manifest(path: Path) -> dict[str, Any]:
    """What ``manifest.json`` says.

    Raises:
        FileError: if there is no such file, if it is something else, or if another version of this program wrote it.
    """
    try:
        manifest = read_layout(path, FORMAT, what="an exported model", remedy="export the model again")
    except FileNotFoundError:
        message = "there is no such file: is the folder one that recurrent-mt export has written?"
        raise FileError(path, message) from None
    special = manifest.get("special")
    numbers = [special.get(name) for name in SPECIAL] if isinstance(special, dict) else [None]
    numbers += [manifest.get(name) for name in ("longest_source", "longest_target")]
    names = manifest.get("state")
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise FileError(path, "special, longest_source or longest_target lacks a number: export the model again")
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise FileError(path, "state is no list of names: export the model again")
    return manifest
