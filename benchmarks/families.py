"""All families of cases: encoders, decoders, updates, and searches beside fairseq's ``lstm``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from fairseq.criterions import CRITERION_DATACLASS_REGISTRY
from fairseq.dataclass.configs import FairseqConfig
from fairseq.models import FairseqEncoderDecoderModel
from fairseq.optim.adam import FairseqAdamConfig
from fairseq.optim.lr_scheduler.fixed_schedule import FixedLRScheduleConfig
from fairseq.sequence_generator import SequenceGenerator
from fairseq.tasks import FairseqTask
from fairseq.trainer import Trainer
from omegaconf import OmegaConf
from torch import Tensor, nn

from user_dir.optim import FusedAdamConfig
from user_dir.tasks.native_translation import NativeGenerator

from .case import Case, Family, Setting
from .systems import ModelPair, model_shape


def prepare_encoder(setting: Setting, **shape: Any) -> Case:
    """The encoder alone: annotations and summary, and all its gradients.

    The arguments are those of :class:`~benchmarks.systems.ModelPair`.
    """
    models = ModelPair(setting, **shape)
    tokens = {name: models.sample["net_input"][name] for name in ("src_tokens", "src_lengths")}
    runs = {
        "ours": _encoder_passes(models.ours.encoder, tokens, lambda output: [output.annotations, output.summary]),
        "stock": _encoder_passes(models.stock.encoder, tokens, lambda output: output[:2]),
    }
    return Case(runs, "words", models.source_words)


def _encoder_passes(
    encoder: nn.Module, tokens: dict[str, Tensor], read: Callable[[Any], Sequence[Tensor]]
) -> Callable[[], object]:
    encoder.train()
    weights = list(encoder.parameters())
    with torch.no_grad():
        gradients = [_constant_gradient(output) for output in read(encoder(**tokens))]

    return lambda: torch.autograd.grad(read(encoder(**tokens)), weights, gradients)


def _constant_gradient(output: Tensor) -> Tensor:
    """A gradient that is the same each time and different from entry to entry, like ``output``."""
    places = torch.arange(output.numel(), device=output.device, dtype=torch.float32)
    return (places * 0.7).sin_().view(output.shape).to(output.dtype)


ENCODER = Family(
    name="encoder",
    about="the encoder with its embeddings, forward and backward",
    case=prepare_encoder,
    shapes=(
        model_shape("RNNsearch", "small", 32, 30, "mixed"),
        model_shape("RNNsearch", "small", 64, 30, "alike"),
        model_shape("RNNsearch", "paper", 32, 50, "mixed"),
        model_shape("grConv", "small", 32, 30, "mixed"),
        model_shape("grConv", "paper", 8, 30, "mixed"),
        model_shape("dilated grConv", "small", 32, 30, "mixed"),
        model_shape("dilated grConv", "small", 64, 30, "alike"),
    ),
    quick=tuple(model_shape(system, "tiny", 3, 6, "mixed") for system in ("RNNsearch", "grConv", "dilated grConv")),
)


def prepare_decoder(setting: Setting, **shape: Any) -> Case:
    """The decoder alone, from an encoded batch to scores over the vocabulary, and all its gradients.

    The arguments are those of :class:`~benchmarks.systems.ModelPair`.
    """
    models = ModelPair(setting, **shape)
    both = {"ours": models.ours, "stock": models.stock}
    runs = {name: _decoder_passes(model, models.sample["net_input"]) for name, model in both.items()}
    return Case(runs, "words", models.target_words)


def _decoder_passes(model: FairseqEncoderDecoderModel, net_input: dict[str, Any]) -> Callable[[], object]:
    model.train()
    with torch.no_grad():
        encoded = model.encoder(net_input["src_tokens"], net_input["src_lengths"])
    fields = [field.requires_grad_() if _carries_gradient(field) else field for field in encoded]
    encoded = getattr(type(encoded), "_make", tuple)(fields)
    inputs = [*model.decoder.parameters(), *filter(_carries_gradient, fields)]

    def scores() -> Tensor:
        return model.decoder(net_input["prev_output_tokens"], encoder_out=encoded)[0]

    with torch.no_grad():
        gradient = _constant_gradient(scores())
    # Without attention, nothing reads the annotations.
    return lambda: torch.autograd.grad(scores(), inputs, gradient, allow_unused=True)


def _carries_gradient(field: object) -> bool:
    return isinstance(field, Tensor) and field.is_floating_point()


DECODER = Family(
    name="decoder",
    about="the decoder over given targets, with scores over the vocabulary, forward and backward",
    case=prepare_decoder,
    shapes=(
        model_shape("RNNsearch", "small", 32, 30, "mixed"),
        model_shape("RNNsearch", "small", 64, 30, "alike"),
        model_shape("RNNsearch", "paper", 16, 30, "mixed"),
        model_shape("minimal GRUs", "small", 32, 30, "mixed"),
        model_shape("minimal GRUs", "small", 64, 30, "alike"),
        model_shape("RNNenc", "small", 32, 30, "mixed"),
        model_shape("RNNenc", "small", 64, 30, "alike"),
    ),
    quick=tuple(model_shape(system, "tiny", 3, 6, "mixed") for system in ("RNNsearch", "minimal GRUs", "RNNenc")),
)


#: As in configs/recommended-base.yaml.
DROPOUT, CLIP_NORM = 0.2, 1.0

#: So small that a thousand updates on one batch change nothing that affects the time.
LEARNING_RATE = 1e-6


#: The plug-in's criterion, and the one that fairseq's own model is trained with: the same loss.
CRITERION, STOCK_CRITERION = "chunked_cross_entropy", "cross_entropy"


def prepare_step(setting: Setting, *, criterion: str = CRITERION, **shape: Any) -> Case:
    """One update: fairseq's translation task, cross-entropy, clipping, Adam.

    bfloat16 is fairseq's ``--bf16``, with master weights in float32. The arguments are those of
    :class:`~benchmarks.systems.ModelPair`, and the criterion of our model.
    """
    models = ModelPair(setting, dropout=DROPOUT, **shape)
    runs = {
        "ours": _update(models.ours, models, setting.dtype, criterion, fused=setting.is_compiled),
        "stock": _update(models.stock, models, setting.stock_dtype, STOCK_CRITERION),
    }
    return Case(runs, "words", models.target_words)


def _update(
    model: FairseqEncoderDecoderModel, models: ModelPair, dtype: str, criterion: str, *, fused: bool = False
) -> Callable[[], object]:
    task: FairseqTask = models.task
    config = OmegaConf.structured(FairseqConfig)
    config.common.cpu = not models.sample["target"].is_cuda
    config.common.bf16 = dtype == "bfloat16"
    config.optimization.lr = [LEARNING_RATE]
    config.optimization.clip_norm = CLIP_NORM
    adam = FusedAdamConfig(_name="fused_adam") if fused else FairseqAdamConfig(_name="adam")
    config.optimizer = OmegaConf.structured(adam)
    config.lr_scheduler = OmegaConf.structured(FixedLRScheduleConfig(_name="fixed"))
    config.criterion = OmegaConf.structured(CRITERION_DATACLASS_REGISTRY[criterion](_name=criterion))
    trainer = Trainer(config, task, model, task.build_criterion(config.criterion))
    return lambda: trainer.train_step([models.sample])


TRAINING_STEP = Family(
    name="training_step",
    about="a whole update by fairseq's trainer: forward, backward, clipping, Adam",
    case=prepare_step,
    shapes=(
        model_shape("RNNsearch", "small", 80, 25, "alike"),
        {**model_shape("RNNsearch", "small", 80, 25, "alike"), "criterion": STOCK_CRITERION},
        model_shape("RNNsearch", "small", 80, 25, "mixed"),
        model_shape("minimal GRUs", "small", 80, 25, "alike"),
        model_shape("dilated grConv", "small", 80, 25, "alike"),
        model_shape("dilated grConv", "small", 80, 25, "mixed"),
        model_shape("RNNenc", "small", 80, 25, "alike"),
        model_shape("grConv", "small", 80, 25, "alike"),
        model_shape("RNNsearch", "paper", 16, 30, "alike"),
        model_shape("minimal GRUs", "paper", 16, 30, "alike"),
    ),
    quick=tuple(
        model_shape(system, "tiny", 3, 6, "alike") for system in ("RNNsearch", "RNNenc", "dilated grConv", "grConv")
    ),
)


BEAM = 5


def prepare_translation(setting: Setting, *, length: int, **shape: Any) -> Case:
    """A batch translated with a beam of five, in as many steps as the longest source has words.

    The length of untrained models' translations means nothing, so both take the same number of steps: no hypothesis may
    end before that, and all must end then. The search never becomes narrower, as it does with trained models.

    The arguments are those of :class:`~benchmarks.systems.ModelPair`.
    """
    models = ModelPair(setting, length=length, **shape)
    # With the reference's kernels, even the native generator leaves the search to fairseq's.
    kind = NativeGenerator if setting.is_compiled else SequenceGenerator
    runs = {
        "ours": _search(models.ours, models.task, models.sample, length, kind),
        "stock": _search(models.stock, models.task, models.sample, length, SequenceGenerator),
    }
    return Case(runs, "sentences", len(models.sample["target"]))


def _search(
    model: FairseqEncoderDecoderModel,
    task: FairseqTask,
    sample: dict[str, Any],
    steps: int,
    kind: type[SequenceGenerator],
) -> Callable[[], object]:
    """A search of exactly that many steps, including the end symbol."""
    generator = kind([model], task.target_dictionary, beam_size=BEAM, min_len=steps - 1, max_len_b=steps - 1)
    return lambda: generator.generate([model], sample)


TRANSLATION = Family(
    name="translation",
    about=f"beam-{BEAM} search, as many steps as the longest source has words",
    case=prepare_translation,
    shapes=(
        model_shape("RNNsearch", "small", 32, 25, "alike"),
        model_shape("RNNsearch", "small", 1, 25, "alike"),
        model_shape("minimal GRUs", "small", 32, 25, "alike"),
        model_shape("RNNsearch", "paper", 8, 25, "alike"),
    ),
    quick=tuple(model_shape(system, "tiny", 3, 6, "alike") for system in ("RNNsearch", "minimal GRUs")),
)


#: A new one gets a line here.
FAMILIES: dict[str, Family] = {family.name: family for family in (ENCODER, DECODER, TRAINING_STEP, TRANSLATION)}
