"""A model that translates and scores single sentences, for whoever watches: with every score and weight it used."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from threading import Lock
from typing import Any, NamedTuple

import torch
from torch import Tensor

from recurrent_mt.layers.grconv import DilatedGRConvEncoder
from recurrent_mt.text_form import LENGTH_LIMITS

from ..tasks.native_translation import NativeGenerator
from .checkpoint import Checkpoint
from .gates import GRCONVS, sentence_gates

MAX_TOKENS = 4000


@contextmanager
def one_thread() -> Iterator[None]:
    """One sentence's products are too small to share: on a busy machine, threads would wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Hypothesis(NamedTuple):
    """A translation, found or given."""

    tokens: list[str]  # with ``</s>`` at the end
    score: float  # what the search ranks by: log-probability (base 2) divided by the length to the power of the penalty
    log_probabilities: list[float]  # of each token (base 2)
    #: the token that the model finds most probable at each place; empty for a translation it has found
    preferred: list[str]
    weights: list[list[float]] | None  # (T, S) what each token attends to; None if the model has no attention


class Translator:
    """A checkpoint that several users may ask at once: one waits for the other.

    Attributes:
        languages: source and target.
        has_gates: whether the encoder is a grConv.
        has_windows: whether it is a dilated one.
        longest: the most tokens that the model reads, ``</s>`` included.
        model: in evaluation mode, for whoever wants to see its numbers.
    """

    def __init__(self, path: str | PathLike[str], data: str | PathLike[str]) -> None:
        """Loads the checkpoint; arguments and errors as of :class:`Checkpoint`.

        Raises:
            ValueError: if it does not translate.
        """
        self._checkpoint = Checkpoint(path, data)
        self._task, self.model = self._checkpoint.task, self._checkpoint.model
        config = getattr(self._task, "cfg", None)
        languages = [getattr(config, f"{side}_lang", None) for side in ("source", "target")]
        if not all(languages) or not hasattr(self.model, "encoder"):
            raise ValueError(f"{path} is not a translation model")
        self.languages: tuple[str, str] = (str(languages[0]), str(languages[1]))
        layer = getattr(self.model.encoder, "layer", None)
        self.has_gates = isinstance(layer, GRCONVS)
        self.has_windows = isinstance(layer, DilatedGRConvEncoder)
        self.longest: int = min(*self.model.max_positions(), MAX_TOKENS)
        self._lock = Lock()

    def knows(self, token: str, *, target: bool = False) -> bool:
        """Whether a token is in the dictionary of its side; a literal <pad> is read as an unknown word."""
        dictionary = self._task.target_dictionary if target else self._task.source_dictionary
        return dictionary.index(token) not in (dictionary.unk(), dictionary.pad())

    def translate(self, source: str, *, beam: int, length_penalty: float, count: int) -> list[Hypothesis]:
        """The best translations of a sentence of space-separated tokens, as ``fairseq-generate`` finds them.

        The search is the native one where that can do it, which takes a tenth of the time. The limits of a
        translation's length are those of the recipes.
        """
        options = Namespace(beam=beam, lenpen=length_penalty, **LENGTH_LIMITS)
        with self._lock, one_thread(), torch.no_grad():
            generator = self._task.build_generator([self.model], options, seq_gen_cls=NativeGenerator)
            (batch,) = self._checkpoint.batches([source], max_tokens=MAX_TOKENS)
            (found,) = self._task.inference_step(generator, [self.model], batch)
        return [self._read(hypothesis) for hypothesis in found[:count]]

    def _read(self, found: dict[str, Any]) -> Hypothesis:
        attention = found["attention"]
        # fairseq's search keeps it as (S, T).
        weights = attention.t().tolist() if attention is not None and attention.numel() else None
        logs = (found["positional_scores"] / math.log(2)).tolist()
        return Hypothesis(self._words(found["tokens"]), float(found["score"]) / math.log(2), logs, [], weights)

    def score(self, source: str, target: str) -> Hypothesis:
        """A given translation; ``score`` is its log-probability divided by its length."""
        with self._lock, one_thread(), torch.no_grad():
            (batch,) = self._checkpoint.batches([source], [target], max_tokens=MAX_TOKENS)
            output = self.model(**batch["net_input"])
            # With the targets, an adaptive softmax would leave out the clusters that none of them is in.
            logs = self.model.get_normalized_probs(output, log_probs=True)[0] / math.log(2)
        tokens = batch["target"][0]
        attention = output[1].get("attn") if isinstance(output[1], dict) else output[1]
        attention = attention[0] if isinstance(attention, list) else attention
        values = logs.gather(1, tokens[:, None])[:, 0]
        # The search never takes it.
        logs[:, self._task.target_dictionary.pad()] = -math.inf
        return Hypothesis(
            self._words(tokens),
            float(values.mean()),
            values.tolist(),
            self._words(logs.argmax(dim=1)),
            None if attention is None else attention[0].tolist(),
        )

    def _words(self, tokens: Tensor) -> list[str]:
        return [self._task.target_dictionary[token] for token in tokens.tolist()]

    def gates(self, source: str) -> dict[str, Any]:
        """The gates over the sentence, see :func:`sentence_gates`."""
        with self._lock, one_thread():
            return sentence_gates(self._checkpoint, [source])[0]
