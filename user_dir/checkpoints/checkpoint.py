"""Trained models: loaded with their dictionaries, with text turned into the batches they take, and read and written."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils
from fairseq.data import Dictionary, LanguagePairDataset
from omegaconf import OmegaConf
from torch import Tensor

from recurrent_mt.text_files import write_aside

#: How many decimals of a gate or a weight are kept.
DIGITS = 5
#: No values for the options that name files of pretrained embeddings: a trained model has its own.
NO_EMBEDDING_FILES = {"encoder_embed_path": None, "decoder_embed_path": None}


class Checkpoint:
    """A model loaded from a checkpoint, ready to use.

    Attributes:
        path: the checkpoint, for messages.
        model: in evaluation mode.
        task: the task, with the dictionaries of both languages.
    """

    def __init__(self, path: str | PathLike[str], data: str | PathLike[str]) -> None:
        """Loads the checkpoint.

        Args:
            path: the checkpoint.
            data: the folder of binarized data, which has the dictionaries.

        Raises:
            ValueError: if there is no such file or folder, or if they are not a model and its dictionaries.
        """
        if not Path(path).is_file():
            raise ValueError(f"there is no checkpoint {path}")
        if not Path(data).is_dir():
            raise ValueError(f"there is no folder {data}: it must hold the dictionaries made by fairseq-preprocess")
        overrides = {"data": str(Path(data).resolve()), **NO_EMBEDDING_FILES}
        try:
            models, _, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], arg_overrides=overrides)
        except Exception as error:  # whatever PyTorch and fairseq raise for a file of another kind
            reason = first_reason(error)
            raise ValueError(f"{path} cannot be loaded with the dictionaries of {data}: {reason}") from error
        if getattr(getattr(task, "args", None), "lang_tok_replacing_bos_eos", False):
            raise ValueError(f"{path}: its sentences begin and end with tags of languages, unlike those of this tool")
        self.path = path
        self.model = models[0].eval()
        self.task = task

    def batches(
        self, sources: Sequence[str], targets: Sequence[str] | None = None, *, max_tokens: int
    ) -> Iterator[dict[str, Any]]:
        """Yields the sentences in fairseq batches, shortest sentences first; ``id`` numbers them from 0.

        Args:
            sources: space-separated tokens; words missing from the dictionary become unknown words.
            targets: the same, and as many; None to leave out the decoder.
            max_tokens: the most tokens in a batch, padding included; a longer sentence is a batch.

        Raises:
            ValueError: if there are not as many targets as sources, or if a sentence is longer than the model allows.
        """
        if targets is not None and len(targets) != len(sources):
            raise ValueError(f"{len(sources)} source sentences, but {len(targets)} target sentences")
        source_ids = token_ids(sources, self.task.source_dictionary)
        target_ids = None if targets is None else token_ids(targets, self.task.target_dictionary)
        sides = zip(("source", "target"), (source_ids, target_ids or []), self.model.max_positions())
        for side, sentences, longest in sides:
            for number, count in enumerate(map(len, sentences)):
                if count > longest:
                    message = f"{side} sentence {number} has {count} tokens, </s> included; the model takes {longest}"
                    raise ValueError(message)
        dataset = LanguagePairDataset(
            source_ids,
            [ids.numel() for ids in source_ids],
            self.task.source_dictionary,
            target_ids,
            None if target_ids is None else [ids.numel() for ids in target_ids],
            self.task.target_dictionary,
            # fairseq's own lstm returns attention in this layout, whatever the layout of its source.
            left_pad_source=False,
            shuffle=False,
        )
        if source_ids:
            room = max([max_tokens, *map(dataset.num_tokens, range(len(dataset)))])
            for indices in dataset.batch_by_size(dataset.ordered_indices(), max_tokens=room):
                yield dataset.collater([dataset[index] for index in indices])

    def first_pairs(self, count: int) -> tuple[list[str], list[str]]:
        """The first sentences of the test set with their translations, as tokens."""
        self.task.load_dataset("test")
        pairs = self.task.dataset("test")
        numbers = range(min(count, len(pairs)))
        return (
            [self.task.source_dictionary.string(pairs.src[number]) for number in numbers],
            [self.task.target_dictionary.string(pairs.tgt[number]) for number in numbers],
        )


def first_reason(error: Exception) -> str:
    """The first line of what an error says, with the next where it only announces what follows, as PyTorch's does."""
    first, *others = str(error).splitlines() or [type(error).__name__]
    return f"{first} {others[0].strip()}" if first.endswith(":") and others else first


def token_ids(sentences: Sequence[str], dictionary: Dictionary) -> list[Tensor]:
    """The dictionary ids of each sentence's tokens, with ``</s>`` at the end."""
    return [dictionary.encode_line(text, add_if_not_exist=False).long() for text in sentences]


def tokens_of(text: str) -> list[str]:
    """The tokens as :func:`token_ids` sees them, with ``</s>`` at the end."""
    return [*text.split(), "</s>"]


def read_checkpoint(path: Path) -> dict[str, Any]:
    """What a checkpoint holds, with its options as plain dictionaries.

    Raises:
        ValueError: if there is no such file, or if it is no checkpoint.
    """
    if not path.is_file():
        raise ValueError(f"there is no checkpoint {path}")
    try:
        state = checkpoint_utils.load_checkpoint_to_cpu(str(path))
        state["cfg"] = OmegaConf.to_container(state["cfg"], resolve=True, enum_to_str=True)
    except Exception as error:  # whatever PyTorch and fairseq raise for a file of another kind
        raise ValueError(f"{path} cannot be loaded: {first_reason(error)}") from error
    return state


def change_parameters(parameters: dict[str, Tensor], change: Callable[[str, Tensor], Tensor]) -> dict[str, Tensor]:
    """What becomes of each parameter; those that share memory still do, so that files have them once."""
    made: dict[tuple[int, torch.Size], Tensor] = {}
    for name, value in parameters.items():
        if (place := (value.data_ptr(), value.shape)) not in made:
            made[place] = change(name, value)
    return {name: made[value.data_ptr(), value.shape] for name, value in parameters.items()}


def model_options(config: Mapping[str, Any]) -> dict[str, Any]:
    """The model's among all options, to be read and changed; older checkpoints have a namespace of them."""
    model = config["model"]
    return vars(model) if isinstance(model, Namespace) else model


def write_model(path: Path, config: Any, parameters: Mapping[str, Tensor], *, state: Mapping[str, Any]) -> None:
    """Writes a model whole or not at all; the folder is created if missing.

    Args:
        path: the file.
        config: all options. Files of pretrained embeddings are left out: they need not exist any more.
        parameters: the model's.
        state: what else the checkpoint has; what concerns its training is left out.
    """
    options = model_options(config)
    options.update({name: value for name, value in NO_EMBEDDING_FILES.items() if name in options})
    whole = {
        **state,
        "cfg": config,
        "model": dict(parameters),
        # fairseq looks at the last entry even if there was no training.
        "optimizer_history": [{"lr_scheduler_state": {}, "num_updates": 0}],
        "extra_state": {"train_iterator": {"epoch": 1, "iterations_in_epoch": 0}},
        "last_optimizer_state": None,
    }
    with write_aside(path) as partial:
        torch.save(whole, partial)
