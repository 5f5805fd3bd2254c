"""One trained model with its dictionaries, and text turned into the batches that it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from fairseq import checkpoint_utils
from fairseq.data import Dictionary, LanguagePairDataset
from fairseq.models import BaseFairseqModel
from fairseq.tasks import FairseqTask
from torch import Tensor


class Checkpoint:
    """A model out of a checkpoint, ready to read.

    Attributes:
        path: of the checkpoint, for messages.
        model: in evaluation mode.
        task: with the dictionaries of both languages.
    """

    def __init__(self, path: str | PathLike[str], data: str | PathLike[str]) -> None:
        """Loads the checkpoint.

        Args:
            path: of the checkpoint.
            data: the folder of binarized data, for its dictionaries.

        Raises:
            ValueError: if there is no such file or folder, or they are not a model and its dictionaries.
        """
        if not Path(path).is_file():
            raise ValueError(f"there is no checkpoint {path}")
        if not Path(data).is_dir():
            raise ValueError(f"there is no folder {data}: it must hold the dictionaries made by fairseq-preprocess")
        try:
            models, _, task = checkpoint_utils.load_model_ensemble_and_task(
                [str(path)], arg_overrides={"data": str(Path(data).resolve())}
            )
        except Exception as error:  # whatever PyTorch and fairseq raise at a file that is something else
            reason = (str(error) or type(error).__name__).partition("\n")[0]
            raise ValueError(f"{path} cannot be loaded with the dictionaries of {data}: {reason}") from error
        self.path = path
        self.model: BaseFairseqModel = models[0].eval()
        self.task: FairseqTask = task

    def batches(
        self, sources: Sequence[str], targets: Sequence[str] | None = None, *, max_tokens: int
    ) -> Iterator[dict[str, Any]]:
        """Yields the sentences in batches of fairseq's form, shortest sentences first; ``id`` numbers them from 0.

        Args:
            sources: tokens, separated by spaces; words that the dictionary lacks become unknown words.
            targets: likewise, as many; None to leave the decoder out.
            max_tokens: of a batch, padding included.

        Raises:
            ValueError: if there are not as many targets as sources, or if a sentence is longer than the model takes
                or than a batch may be.
        """
        if targets is not None and len(targets) != len(sources):
            raise ValueError(f"{len(sources)} source sentences, but {len(targets)} target sentences")
        source_ids = encode(sources, self.task.source_dictionary)
        target_ids = None if targets is None else encode(targets, self.task.target_dictionary)
        longest_source, longest_target = self.model.max_positions()
        for number, ids in enumerate(source_ids):
            check_length(number, ids, "source", min(longest_source, max_tokens))
        for number, ids in enumerate(target_ids or []):
            check_length(number, ids, "target", min(longest_target, max_tokens))
        dataset = LanguagePairDataset(
            source_ids,
            [ids.numel() for ids in source_ids],
            self.task.source_dictionary,
            target_ids,
            None if target_ids is None else [ids.numel() for ids in target_ids],
            self.task.target_dictionary,
            # fairseq's own lstm gives attention in this layout, whatever the layout of its source.
            left_pad_source=False,
            shuffle=False,
        )
        if sources:
            for indices in dataset.batch_by_size(dataset.ordered_indices(), max_tokens=max_tokens):
                yield dataset.collater([dataset[index] for index in indices])


def encode(sentences: Sequence[str], dictionary: Dictionary) -> list[Tensor]:
    """The dictionary's numbers of each sentence's tokens, ``</s>`` at the end."""
    return [dictionary.encode_line(text, add_if_not_exist=False).long() for text in sentences]


def check_length(number: int, ids: Tensor, side: str, longest: int) -> None:
    """Refuses a sentence that is too long.

    Raises:
        ValueError: naming the sentence.
    """
    if ids.numel() > longest:
        raise ValueError(
            f"{side} sentence {number} has {ids.numel()} tokens, </s> included; the model, or a batch, takes {longest}"
        )


def tokens_of(text: str) -> list[str]:
    """The tokens as :func:`encode` sees them, ``</s>`` at the end."""
    return [*text.split(), "</s>"]
