"""Our models and fairseq's ``lstm``, built by fairseq with random weights and equal sizes, and batches for them."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

import torch
import yaml
from fairseq import models, utils
from fairseq.data import Dictionary
from fairseq.data.language_pair_dataset import collate
from fairseq.models import FairseqEncoderDecoderModel
from fairseq.tasks.translation import TranslationConfig, TranslationTask

import user_dir.models  # noqa: F401, registers them

from .case import DTYPES, Setting, Shape


class Sizes(NamedTuple):
    """Units of each part."""

    embedding: int  # E, for both languages
    encoder: int  # H per direction of the encoder; an encoder without directions has twice as many units
    decoder: int  # H of the decoder
    readout: int  # units of the readout, or for the stock model of the layer before the vocabulary
    vocabulary: int  # V for each language, including fairseq's symbols


SIZES = {
    "tiny": Sizes(6, 5, 10, 7, 40),
    # configs/recommended-base.yaml, with the vocabulary of 6,000 joint merges.
    "small": Sizes(256, 256, 512, 256, 3300),
    # Bahdanau et al. (2015), A.2.3, with a vocabulary of 30,000 (section 4.1).
    "paper": Sizes(620, 1000, 1000, 500, 30000),
}

_GRCONV = Path(__file__).parents[1] / "configs/recommended-grconv.yaml"
_RECOMMENDED = yaml.safe_load(_GRCONV.read_text(encoding="utf-8"))["model"]
_DILATED = {option: value for option, value in _RECOMMENDED.items() if option.startswith("grconv_")}
#: Our models by their short names: the architecture, and its options besides sizes.
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "RNNsearch": ("gru_encoder", {"encoder_bidirectional": True, "decoder_attention": "additive"}),
    "minimal GRUs": (
        "gru_encoder",
        {
            "encoder_bidirectional": True,
            "decoder_attention": "scaled_general",
            "decoder_cell": "min_gru",
            "decoder_second_hop": True,
            "decoder_readout": "linear",
            "token_shift": True,
        },
    ),
    "RNNenc": ("gru_encoder", {"encoder_bidirectional": True, "decoder_attention": "none"}),
    "dilated grConv": ("grconv_encoder", {**_DILATED, "decoder_attention": "additive"}),
    "grConv": ("grconv_encoder", {"decoder_attention": "none"}),
}


def draw_lengths(sentences: int, longest: int, kind: str, *, seed: int) -> list[int]:
    """Lengths, the longest one first.

    They are ``alike``, up to a fifth shorter than the longest, as in fairseq's batches of similar sentences; or
    ``mixed``, from 5 to the longest, evenly.
    """
    least = {"alike": max(1, longest * 4 // 5), "mixed": min(5, longest)}[kind]
    generator = torch.Generator().manual_seed(seed)
    return [longest, *torch.randint(least, longest + 1, (sentences - 1,), generator=generator).tolist()]


def make_task(vocabulary: int) -> TranslationTask:
    """A task whose dictionary, of both languages, has this size, including fairseq's symbols."""
    dictionary = Dictionary()
    for word in range(vocabulary - dictionary.nspecial):
        dictionary.add_symbol(f"w{word}", n=vocabulary - word)
    return TranslationTask(TranslationConfig(), dictionary, dictionary)


def make_sample(vocabulary: Dictionary, *, sentences: int, length: int, lengths: str) -> dict[str, Any]:
    """A batch of sentence pairs, collated by fairseq; lengths count the end symbol, and are drawn for either side."""
    generator = torch.Generator().manual_seed(1)
    sources = draw_lengths(sentences, length, lengths, seed=1)
    targets = draw_lengths(sentences, length, lengths, seed=2)

    def words(count: int) -> torch.Tensor:
        drawn = torch.randint(vocabulary.nspecial, len(vocabulary), (count - 1,), generator=generator)
        return torch.cat([drawn, torch.tensor([vocabulary.eos()])])

    pairs = [
        {"id": row, "source": words(source), "target": words(target)}
        for row, (source, target) in enumerate(zip(sources, targets))
    ]
    return collate(pairs, pad_idx=vocabulary.pad(), eos_idx=vocabulary.eos(), left_pad_source=True)


def model_shape(system: str, size: str, sentences: int, length: int, lengths: str) -> Shape:
    """A shape of the cases that are made of a :class:`ModelPair`."""
    return {"system": system, "size": size, "sentences": sentences, "length": length, "lengths": lengths}


class ModelPair:
    """Our model and the stock one, and a batch for both.

    Attributes:
        task: the task with the dictionary.
        ours: on the device, in the run's dtype.
        stock: on the device, in the stock dtype.
        sample: on the device.
    """

    def __init__(
        self,
        setting: Setting,
        *,
        system: str,
        size: str,
        sentences: int,
        length: int,
        lengths: str,
        dropout: float = 0.0,
    ) -> None:
        """Builds a system of :data:`SYSTEMS` in a size of :data:`SIZES` and the stock one, and draws a batch.

        Both have dropout wherever they can.
        """
        units, (architecture, options) = SIZES[size], SYSTEMS[system]
        self.task = make_task(units.vocabulary)

        def build(architecture: str, config: object, weights: torch.dtype) -> FairseqEncoderDecoderModel:
            torch.manual_seed(1)
            return models.MODEL_REGISTRY[architecture].build_model(config, self.task).to(setting.device, weights)

        shared = {
            "encoder_embed_dim": units.embedding,
            "encoder_hidden_size": units.encoder,
            "decoder_embed_dim": units.embedding,
            "decoder_hidden_size": units.decoder,
            "decoder_out_embed_dim": units.readout,
            "dropout": dropout,
        }
        width = units.encoder if "encoder_bidirectional" in options else 2 * units.encoder
        own = {**options, "encoder_hidden_size": width, "autocast": "bfloat16" if setting.autocast else "none"}
        config = models.MODEL_DATACLASS_REGISTRY[architecture](**{**shared, **own})
        self.ours = build(architecture, config, setting.weights)
        # Bidirectional, with its attention if ours has one.
        attention = "0" if options["decoder_attention"] == "none" else "1"
        own = {"criterion": "cross_entropy", "encoder_bidirectional": True, "decoder_attention": attention}
        self.stock = build("lstm", Namespace(**shared, **own), DTYPES[setting.stock_dtype])
        sample = make_sample(self.task.source_dictionary, sentences=sentences, length=length, lengths=lengths)
        self.sample = utils.move_to_cuda(sample) if setting.device == "cuda" else sample

    @property
    def source_words(self) -> int:
        """How many the batch has, ends of sentences included."""
        return int(self.sample["net_input"]["src_lengths"].sum())

    @property
    def target_words(self) -> int:
        """How many the batch has, ends of sentences included."""
        return int(self.sample["ntokens"])
