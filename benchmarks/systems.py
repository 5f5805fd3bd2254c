"""Our models and fairseq's ``lstm``, built by fairseq with random weights and equal sizes, and batches for them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
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

from .case import SENTENCES, Setting, Shape, assert_model_agrees
from .products import SIZES, ProductList, Sizes, dilated_grconv_encoder, grconv_encoder, gru_encoder


def draw_lengths(sentences: int, longest: int, kind: str, *, seed: int) -> list[int]:
    """Lengths, the longest one first.

    They are all ``equal``; or ``alike``, up to a fifth shorter than the longest, as in fairseq's batches of similar
    sentences; or ``mixed``, from 5 to the longest, evenly.
    """
    least = {"equal": longest, "alike": max(1, longest * 4 // 5), "mixed": min(5, longest)}[kind]
    generator = torch.Generator().manual_seed(seed)
    return [longest, *torch.randint(least, longest + 1, (sentences - 1,), generator=generator).tolist()]


def dictionary(size: int) -> Dictionary:
    """A dictionary of this size, including fairseq's symbols."""
    result = Dictionary()
    for word in range(size - result.nspecial):
        result.add_symbol(f"w{word}", n=size - word)
    return result


def make_sample(vocabulary: Dictionary, *, sentences: int, length: int, lengths: str, seed: int = 1) -> dict[str, Any]:
    """A batch of sentence pairs, collated by fairseq; lengths count the end symbol.

    Args:
        vocabulary: for both languages.
        sentences: B.
        length: the longest source's and the longest target's.
        lengths: as in :func:`draw_lengths`, for either side.
        seed: for lengths and words.
    """
    generator = torch.Generator().manual_seed(seed)
    sources = draw_lengths(sentences, length, lengths, seed=seed)
    targets = draw_lengths(sentences, length, lengths, seed=seed + 1)

    def words(count: int) -> torch.Tensor:
        drawn = torch.randint(vocabulary.nspecial, len(vocabulary), (count - 1,), generator=generator)
        return torch.cat([drawn, torch.tensor([vocabulary.eos()])])

    pairs = [
        {"id": row, "source": words(source), "target": words(target)}
        for row, (source, target) in enumerate(zip(sources, targets))
    ]
    return collate(pairs, pad_idx=vocabulary.pad(), eos_idx=vocabulary.eos(), left_pad_source=True)


def source_lengths(sample: dict[str, Any]) -> list[int]:
    """The lengths of a batch's sources."""
    return sample["net_input"]["src_lengths"].tolist()


def target_lengths(sample: dict[str, Any], vocabulary: Dictionary) -> list[int]:
    """The lengths of a batch's targets."""
    return sample["target"].ne(vocabulary.pad()).sum(dim=1).tolist()


class Architecture(NamedTuple):
    """One of our models, by its short name.

    Attributes:
        architecture: the name of ours.
        options: the options besides sizes.
        attention: whether the decoder attends.
        encoder_products: a function of lengths and sizes.
    """

    architecture: str
    options: dict[str, Any]
    attention: bool
    encoder_products: Callable[[Sequence[int], Sizes], ProductList]


_BOTH = {"encoder_bidirectional": True}
_CONFIGURATION = Path(__file__).parents[1] / "configs/recommended-grconv.yaml"
_RECOMMENDED = yaml.safe_load(_CONFIGURATION.read_text(encoding="utf-8"))["model"]
_DILATED = {option: value for option, value in _RECOMMENDED.items() if option.startswith("grconv_")}
SYSTEMS = {
    "RNNsearch": Architecture("gru_encoder", {**_BOTH, "decoder_attention": "additive"}, True, gru_encoder),
    "RNNenc": Architecture("gru_encoder", {**_BOTH, "decoder_attention": "none"}, False, gru_encoder),
    "dilated grConv": Architecture(
        "grconv_encoder",
        {**_DILATED, "decoder_attention": "additive"},
        True,
        partial(dilated_grconv_encoder, height=_DILATED["grconv_height"]),
    ),
    "grConv": Architecture("grconv_encoder", {"decoder_attention": "none"}, False, grconv_encoder),
}


class ModelPair(NamedTuple):
    """Our model and the stock one, and a batch for both.

    Attributes:
        system: which model ours is.
        size: the size of both.
        task: the task with the dictionary.
        ours: on the device, in the run's dtype.
        stock: on the device, in the stock dtype.
        sample: on the device.
        source: lengths.
        target: lengths.
        check: raises ParityError unless ours agrees with its references.
    """

    system: Architecture
    size: Sizes
    task: TranslationTask
    ours: FairseqEncoderDecoderModel
    stock: FairseqEncoderDecoderModel
    sample: dict[str, Any]
    source: list[int]
    target: list[int]
    check: Callable[[], None]


def model_shape(system: str, size: str, sentences: int, length: int, lengths: str) -> Shape:
    """A shape of the cases that :func:`prepare_models` makes, which explains the entries."""
    return {"system": system, "size": size, "sentences": sentences, "length": length, "lengths": lengths}


def prepare_models(
    setting: Setting, *, system: str, size: str, sentences: int, length: int, lengths: str, dropout: float = 0.0
) -> ModelPair:
    """Builds both and draws a batch.

    Args:
        setting: the run's setting.
        system: a name of :data:`SYSTEMS`.
        size: a name of :data:`~benchmarks.products.SIZES`.
        sentences: B.
        length: the longest sentence's, on either side.
        lengths: as in :func:`~benchmarks.systems.draw_lengths`.
        dropout: wherever the models have dropout.
    """
    chosen, units = SYSTEMS[system], SIZES[size]
    vocabulary = dictionary(units.vocabulary)
    task = TranslationTask(TranslationConfig(), vocabulary, vocabulary)
    autocast = "bfloat16" if setting.autocast else "none"
    options = {**chosen.options, "autocast": autocast, "kernel_backend": setting.backend}
    ours = build_ours(chosen._replace(options=options), units, task, dropout).to(setting.device, setting.number)
    stock = build_stock(chosen, units, task, dropout).to(setting.device, setting.stock_number)

    def draw(number: int) -> dict[str, Any]:
        return make_sample(vocabulary, sentences=number, length=length, lengths=lengths)

    sample, few = draw(sentences), on_device(draw(min(SENTENCES, sentences)), setting)
    return ModelPair(
        chosen,
        units,
        task,
        ours,
        stock,
        on_device(sample, setting),
        source_lengths(sample),
        target_lengths(sample, vocabulary),
        lambda: assert_model_agrees(f"{system} {size}", ours, few["net_input"], setting.product_number),
    )


def on_device(sample: dict[str, Any], setting: Setting) -> dict[str, Any]:
    """Moves a batch to the device of the models."""
    return utils.move_to_cuda(sample) if setting.device == "cuda" else sample


def build_ours(system: Architecture, size: Sizes, task: TranslationTask, dropout: float) -> FairseqEncoderDecoderModel:
    """Builds our model from its registered dataclass."""
    sizes_of_ours = _shared_options(size, dropout)
    if "encoder_bidirectional" not in system.options:
        sizes_of_ours["encoder_hidden_size"] = size.encoded
    config = models.MODEL_DATACLASS_REGISTRY[system.architecture](**{**sizes_of_ours, **system.options})
    torch.manual_seed(1)
    return models.MODEL_REGISTRY[system.architecture].build_model(config, task)


def build_stock(system: Architecture, size: Sizes, task: TranslationTask, dropout: float) -> FairseqEncoderDecoderModel:
    """The ``lstm`` of fairseq with the same sizes, bidirectional, with its attention if ours has one."""
    options = Namespace(
        **_shared_options(size, dropout),
        criterion="cross_entropy",
        encoder_bidirectional=True,
        decoder_attention="1" if system.attention else "0",
    )
    torch.manual_seed(1)
    return models.MODEL_REGISTRY["lstm"].build_model(options, task)


def _shared_options(size: Sizes, dropout: float) -> dict[str, Any]:
    return {
        "encoder_embed_dim": size.embedding,
        "encoder_hidden_size": size.encoder,
        "decoder_embed_dim": size.embedding,
        "decoder_hidden_size": size.decoder,
        "decoder_out_embed_dim": size.readout,
        "dropout": dropout,
    }
