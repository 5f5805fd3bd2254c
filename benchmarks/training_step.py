"""A whole update by fairseq's own trainer, from batch to new weights, compared with fairseq's ``lstm``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairseq.criterions import CRITERION_DATACLASS_REGISTRY
from fairseq.dataclass.configs import FairseqConfig
from fairseq.models import FairseqEncoderDecoderModel
from fairseq.optim.adam import FairseqAdamConfig
from fairseq.optim.lr_scheduler.fixed_schedule import FixedLRScheduleConfig
from fairseq.tasks import FairseqTask
from fairseq.trainer import Trainer
from omegaconf import OmegaConf

from user_dir.optim.fused_adam import FusedAdamConfig

from .case import Case, Family
from .model_products import decoder
from .setting import Setting
from .systems import model_shape, prepare_models

#: As in configs/recommended-base.yaml.
DROPOUT, CLIP_NORM = 0.2, 1.0

#: So small that a thousand updates on one batch change nothing that affects the time.
LEARNING_RATE = 1e-6


#: The plug-in's criterion, and the one that fairseq's own model is trained with: the same loss.
CRITERION, STOCK_CRITERION = "chunked_cross_entropy", "cross_entropy"


def prepare(setting: Setting, *, criterion: str = CRITERION, **shape: Any) -> Case:
    """One update: fairseq's translation task, cross-entropy, clipping, Adam.

    The products are those of encoder and decoder; embeddings, softmax, and Adam have none. bfloat16 is fairseq's
    ``--bf16``, with master weights in float32. The arguments are those of :func:`~benchmarks.systems.prepare_models`,
    and the criterion of our model.
    """
    models = prepare_models(setting, dropout=DROPOUT, **shape)
    products = models.system.encoder_products(models.source, models.size) + decoder(
        models.source, models.target, models.size, attention=models.system.attention
    )
    return Case(
        _update(setting, setting.dtype, criterion, models.task, models.ours, models.sample, fused=setting.is_native),
        products.all(),
        models.check,
        "words",
        sum(models.target),
        _update(setting, setting.stock_dtype, STOCK_CRITERION, models.task, models.stock, models.sample),
    )


def _update(
    setting: Setting,
    dtype: str,
    criterion: str,
    task: FairseqTask,
    model: FairseqEncoderDecoderModel,
    sample: dict[str, Any],
    *,
    fused: bool = False,
) -> Callable[[], object]:
    config = OmegaConf.structured(FairseqConfig)
    config.common.cpu = setting.device == "cpu"
    config.common.bf16 = dtype == "bfloat16"
    config.optimization.lr = [LEARNING_RATE]
    config.optimization.clip_norm = CLIP_NORM
    adam = FusedAdamConfig(_name="fused_adam") if fused else FairseqAdamConfig(_name="adam")
    config.optimizer = OmegaConf.structured(adam)
    config.lr_scheduler = OmegaConf.structured(FixedLRScheduleConfig(_name="fixed"))
    config.criterion = OmegaConf.structured(CRITERION_DATACLASS_REGISTRY[criterion](_name=criterion))
    trainer = Trainer(config, task, model, task.build_criterion(config.criterion))
    return lambda: trainer.train_step([sample])


FAMILY = Family(
    name="training_step",
    about="a whole update by fairseq's trainer: forward, backward, clipping, Adam",
    prepare=prepare,
    shapes=(
        model_shape("RNNsearch", "small", 80, 25, "alike"),
        {**model_shape("RNNsearch", "small", 80, 25, "alike"), "criterion": STOCK_CRITERION},
        model_shape("RNNsearch", "small", 80, 25, "mixed"),
        model_shape("dilated grConv", "small", 80, 25, "alike"),
        model_shape("dilated grConv", "small", 80, 25, "mixed"),
        model_shape("RNNenc", "small", 80, 25, "alike"),
        model_shape("grConv", "small", 80, 25, "alike"),
        model_shape("RNNsearch", "paper", 16, 30, "alike"),
    ),
    quick=(
        model_shape("RNNsearch", "tiny", 3, 6, "alike"),
        model_shape("RNNenc", "tiny", 3, 6, "alike"),
        model_shape("dilated grConv", "tiny", 3, 6, "alike"),
        model_shape("grConv", "tiny", 3, 6, "alike"),
    ),
    growth=model_shape("RNNsearch", "small", 16, 20, "equal"),
    small_growth=model_shape("RNNsearch", "tiny", 2, 4, "equal"),
)
