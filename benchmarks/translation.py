"""Beam search, natively or by fairseq's generator, compared with fairseq's generator for its ``lstm``.

The length of untrained models' translations means nothing, so both take the same number of steps: no hypothesis may end
before that, and all must end then. The search never becomes narrower, as it does with trained models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from fairseq.models import FairseqEncoderDecoderModel
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from user_dir.tasks.native_translation import NativeGenerator

from .case import Case, Family
from .model_products import search
from .parity import SENTENCES, assert_parity, reference_of
from .setting import Setting
from .systems import ModelPair, model_shape, prepare_models

BEAM = 5


def prepare(setting: Setting, *, length: int, **shape: Any) -> Case:
    """A batch translated with a beam of five, in as many steps as the longest source has words.

    The arguments are those of :func:`~benchmarks.systems.prepare_models`; the system must have attention.
    """
    models = prepare_models(setting, length=length, **shape)
    encoder = models.system.encoder_products(models.source, models.size).forward
    steps = search(models.source, models.size, steps=length, beam=BEAM)
    return Case(
        translator(models.ours, models, models.sample, length, generator_of(setting)),
        encoder + steps,
        lambda: _check(models, length, setting),
        "sentences",
        len(models.source),
        translator(models.stock, models, models.sample, length),
    )


def translator(
    model: FairseqEncoderDecoderModel,
    models: ModelPair,
    sample: dict[str, Any],
    steps: int,
    generator_class: type[SequenceGenerator] = SequenceGenerator,
) -> Callable[[], list[list[dict[str, Tensor]]]]:
    """A search of exactly that many steps, including the end symbol."""
    limits = {"min_len": steps - 1, "max_len_b": steps - 1}
    generator = generator_class([model], models.task.target_dictionary, beam_size=BEAM, **limits)
    return lambda: generator.generate([model], sample)


def generator_of(setting: Setting) -> type[SequenceGenerator]:
    """The generator for our model. With the reference's kernels, even the native one leaves the search to fairseq's."""
    return NativeGenerator if setting.is_native else SequenceGenerator


def _check(models: ModelPair, steps: int, setting: Setting) -> None:
    """Model and search, on the batch's first sentences.

    For the search, the best translation's score is compared: two translations may be equally good.
    """
    models.check()
    tokens = {name: models.sample["net_input"][name][:SENTENCES] for name in ("src_tokens", "src_lengths")}

    def best_scores(model: FairseqEncoderDecoderModel) -> list[Tensor]:
        search = translator(model, models, {"net_input": tokens}, steps, generator_of(setting))
        return [torch.stack([beam[0]["score"] for beam in search()])]

    assert_parity(
        f"translation with {models.system.architecture}",
        lambda: best_scores(models.ours),
        lambda dtype: best_scores(reference_of(models.ours, dtype)),
        setting.product_number,
    )


FAMILY = Family(
    name="translation",
    about=f"beam-{BEAM} search, as many steps as the longest source has words",
    prepare=prepare,
    shapes=(
        model_shape("RNNsearch", "small", 32, 25, "alike"),
        model_shape("RNNsearch", "small", 1, 25, "alike"),
        model_shape("RNNsearch", "paper", 8, 25, "alike"),
    ),
    quick=(model_shape("RNNsearch", "tiny", 3, 6, "alike"),),
    growth=model_shape("RNNsearch", "small", 8, 20, "equal"),
    small_growth=model_shape("RNNsearch", "tiny", 2, 4, "equal"),
)
