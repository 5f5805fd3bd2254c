"""A translation task without files, and models built for it as fairseq builds them."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import torch
from fairseq import models
from fairseq.data import Dictionary
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from torch import Tensor

import user_dir.models  # noqa: F401, registers them
from user_dir.models.encoder_decoder import EncoderDecoderModel

SIZES = {
    "encoder_embed_dim": 6,
    "encoder_hidden_size": 5,
    "decoder_embed_dim": 8,
    "decoder_hidden_size": 10,
    "decoder_out_embed_dim": 7,
    "dropout": 0.0,
}
MODELS = {name: model for name, model in models.MODEL_REGISTRY.items() if issubclass(model, EncoderDecoderModel)}
ARCHITECTURES = sorted(MODELS)
ATTENTION_NAMES = ["none", "additive", "dot", "general", "scaled_general"]
#: Every attention with one encoder, and every other encoder with or without attention, in turn.
ENCODERS_WITH_ATTENTION = [("gru_encoder", attention) for attention in ATTENTION_NAMES]
ENCODERS_WITH_ATTENTION += zip([one for one in ARCHITECTURES if one != "gru_encoder"], ["additive", "none"] * 3)


def dictionary(words: int, prefix: str) -> Dictionary:
    """A dictionary of ``words`` made-up words besides fairseq's four symbols."""
    result = Dictionary()
    for word in range(words):
        result.add_symbol(f"{prefix}{word}", n=words - word)
    return result


def task(*, source_words: int = 11, target_words: int = 13, joined: bool = False) -> TranslationTask:
    """A translation task that holds its dictionaries and nothing else."""
    config = TranslationConfig()
    config.max_source_positions = config.max_target_positions = 64
    source = dictionary(source_words, "s")
    return TranslationTask(config, source, source if joined else dictionary(target_words, "t"))


def build(architecture: str, for_task: TranslationTask | None = None, **options: Any) -> models.BaseFairseqModel:
    """The registered model with small sizes, built through fairseq's registry; weights are drawn anew, from a seed."""
    config = models.MODEL_DATACLASS_REGISTRY[architecture]()
    config._name = architecture
    for name, value in {**SIZES, **sizes_for(architecture, options), **options}.items():
        assert hasattr(config, name), name
        setattr(config, name, value)
    torch.manual_seed(11)
    return MODELS[architecture].build_model(config, for_task or task())


def build_adaptive(**options: Any) -> models.BaseFairseqModel:
    """fairseq's lstm with an adaptive softmax, which no model here has."""
    given = {"criterion": "adaptive_loss", "adaptive_softmax_cutoff": "5,9", "dropout": 0.0, **options}
    return models.MODEL_REGISTRY["lstm"].build_model(Namespace(**given), task())


def sizes_for(architecture: str, options: dict[str, Any]) -> dict[str, Any]:
    """Dot attention needs a decoder as wide as the annotations."""
    if options.get("decoder_attention") != "dot":
        return {}
    directions = 2 if options.get("encoder_bidirectional") or architecture == "min_gru_encoder" else 1
    return {"decoder_hidden_size": directions * SIZES["encoder_hidden_size"]}


def sources(lengths: list[int], *, left_pad: bool = True, words: int = 11) -> dict[str, Tensor]:
    """``src_tokens`` and ``src_lengths`` of random sentences that end with ``</s>``; the lengths count it."""
    generator = torch.Generator().manual_seed(5)
    vocabulary = dictionary(words, "s")
    tokens = torch.full((len(lengths), max(lengths)), vocabulary.pad())
    for row, length in enumerate(lengths):
        sentence = torch.randint(vocabulary.nspecial, len(vocabulary), (length,), generator=generator)
        sentence[-1] = vocabulary.eos()
        start = max(lengths) - length if left_pad else 0
        tokens[row, start : start + length] = sentence
    return {"src_tokens": tokens, "src_lengths": torch.tensor(lengths)}


def sample(lengths: list[int], target_lengths: list[int], *, words: int = 13) -> dict[str, Any]:
    """A training sample in fairseq's form; `words` are the target's."""
    vocabulary = dictionary(words, "t")
    target = sources(target_lengths, left_pad=False, words=words)["src_tokens"]
    previous = target.roll(1, dims=1)
    for row, length in enumerate(target_lengths):
        previous[row, 0] = vocabulary.eos()
        previous[row, length:] = vocabulary.pad()
    return {
        "id": torch.arange(len(lengths)),
        "nsentences": len(lengths),
        "ntokens": sum(target_lengths),
        "net_input": {**sources(lengths), "prev_output_tokens": previous},
        "target": target,
    }
