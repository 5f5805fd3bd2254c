"""From the options to what the GRU layers have besides the published equations."""

from __future__ import annotations

import functools
import logging

from recurrent_mt.layers.gru_cell import GRUVariant

from .config import EncoderDecoderConfig

logger = logging.getLogger(__name__)


def gru_variant(cfg: EncoderDecoderConfig, side: str) -> GRUVariant:
    """The variant of the GRU layers on one side.

    Args:
        cfg: the model's options.
        side: ``encoder`` or ``decoder``, whose own options begin with that.

    Raises:
        ValueError: if a value makes no sense, if the published initialization does not cover such a layer, or if the
            kernels that are asked for do not.
    """
    transition_depth = getattr(cfg, f"{side}_transition_depth")
    layer_norm, cell_layer_norm = getattr(cfg, f"{side}_layer_norm"), getattr(cfg, f"{side}_cell_layer_norm")
    if cfg.gru_rank < 0:
        raise ValueError(f"--gru-rank must be 0 (whole matrices) or more, not {cfg.gru_rank}")
    if cfg.skip_time < 0 or cfg.skip_time == 1:
        raise ValueError(f"--skip-time must be 0 (off), or 2 steps or more, not {cfg.skip_time}")
    if transition_depth < 1:
        raise ValueError(f"--{side}-transition-depth must be at least 1, not {transition_depth}")
    if cfg.gru_rank and cfg.recurrent_dropout:
        raise ValueError("--recurrent-dropout drops numbers of whole matrices: it does not work with --gru-rank")
    without_kernels = {
        f"--{side}-transition-depth": transition_depth > 1,
        f"--{side}-cell-layer-norm": cell_layer_norm,
    }
    unpublished = {
        "--gru-rank": cfg.gru_rank,
        "--skip-time": cfg.skip_time,
        f"--{side}-layer-norm": layer_norm,
        **without_kernels,
    }
    for option in (option for option, value in unpublished.items() if value):
        if str(cfg.initialization) == "published":
            raise ValueError(
                f"--initialization published does not define the starting values of {option}: "
                "use --initialization default"
            )
    for option in (option for option, value in without_kernels.items() if value):
        leave_kernels(cfg, option)
    return GRUVariant(
        gate_bias=not cfg.no_gate_bias,
        rank=cfg.gru_rank,
        input_skip=cfg.skip_io,
        time_skip=cfg.skip_time,
        layer_norm=layer_norm,
        recurrent_dropout=cfg.recurrent_dropout,
        transition_depth=transition_depth,
        cell_layer_norm=cell_layer_norm,
    )


def leave_kernels(cfg: EncoderDecoderConfig, option: str) -> None:
    """Says once that layers with this option run without native kernels.

    Raises:
        ValueError: if kernels were asked for that do not know the option.
    """
    backend = str(cfg.kernel_backend)
    if backend in ("native", "fused"):
        raise ValueError(f"--kernel-backend {backend} does not know {option}: use --kernel-backend auto")
    _log(option)


@functools.cache
def _log(option: str) -> None:
    logger.info("%s: these layers run in PyTorch operations, without native kernels", option)
