"""Dropout that fairseq can keep in translation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from ..kernels.linear import dropout


def owner_names(modules: str | Sequence[str]) -> list[str]:
    """The names in ``--retain-dropout-modules``: a list, or one string with commas, as the command line has it.

    Another name may be a part of one: ``Encoder`` is one of ``GRUEncoder``.
    """
    return [name.strip() for name in modules.split(",")] if isinstance(modules, str) else list(modules)


class Dropout(nn.Module):
    """Sets units to zero and scales the rest in training, and in translation if fairseq says so.

    fairseq's ``--retain-dropout`` is for uncertainty by Monte Carlo dropout (Gal and Ghahramani 2016) and noisy
    back-translation: before it translates, fairseq calls ``make_generation_fast_`` of every module that has one.

    Args:
        probability: of a unit.
        owner: the name that ``--retain-dropout-modules`` knows this module by: the class that it is a part of.
    """

    def __init__(self, probability: float, *, owner: str) -> None:
        super().__init__()
        self.probability = probability
        self.owner = owner
        self.retained = False

    def forward(self, values: Tensor) -> Tensor:
        return dropout(values, self.probability, training=self.training or self.retained)

    def make_generation_fast_(
        self, retain_dropout: bool = False, retain_dropout_modules: Sequence[str] | None = None, **kwargs: Any
    ) -> None:
        """Keeps dropping units in translation if asked to.

        Args:
            retain_dropout: ``--retain-dropout``.
            retain_dropout_modules: the :func:`owner_names` of ``--retain-dropout-modules``; None: all of them.
            **kwargs: what else fairseq tells every module.
        """
        self.retained = retain_dropout and (retain_dropout_modules is None or self.owner in retain_dropout_modules)

    def extra_repr(self) -> str:
        return f"p={self.probability}"


class EmbeddingDropout(Dropout):
    """Dropout of embeddings: of whole words, and of the units of those that are left.

    Words: Gal and Ghahramani (2016), "A Theoretically Grounded Application of Dropout in Recurrent Neural Networks";
    Sennrich and Zhang (2019), "Revisiting Low-Resource Neural Machine Translation". As in Nematus, each position of a
    sentence is dropped for itself.

    Args:
        probability: of a unit.
        words: probability of a word.
        owner: as in :class:`Dropout`.
    """

    def __init__(self, probability: float, *, words: float = 0.0, owner: str) -> None:
        super().__init__(probability, owner=owner)
        self.words = words

    def forward(self, values: Tensor) -> Tensor:
        """Drops whole words of the embeddings (…, E), then units of the others."""
        if self.words and (self.training or self.retained):
            words = dropout(values.new_ones(values.shape[:-1]), self.words, training=True)
            values = values * words.unsqueeze(-1)
        return super().forward(values)
