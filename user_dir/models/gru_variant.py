"""From the options to what the GRU layers have besides the published equations."""

from __future__ import annotations

from recurrent_mt.layers.gru import GRUVariant

from .config import EncoderDecoderConfig


def gru_variant(cfg: EncoderDecoderConfig, *, layer_norm: bool) -> GRUVariant:
    """The variant of the GRU layers on one side.

    Args:
        cfg: the options that both sides share.
        layer_norm: that side's own option.

    Raises:
        ValueError: if a value makes no sense, or if the published initialization does not cover such a layer.
    """
    if cfg.gru_rank < 0:
        raise ValueError(f"--gru-rank must be 0 (whole matrices) or more, not {cfg.gru_rank}")
    if cfg.skip_time < 0 or cfg.skip_time == 1:
        raise ValueError(f"--skip-time must be 0 (off), or 2 steps or more, not {cfg.skip_time}")
    if cfg.gru_rank and cfg.recurrent_dropout:
        raise ValueError("--recurrent-dropout drops numbers of whole matrices: it does not work with --gru-rank")
    if str(cfg.initialization) == "published":
        unpublished = {
            "--gru-rank": cfg.gru_rank,
            "--skip-time": cfg.skip_time,
            "--encoder-layer-norm or --decoder-layer-norm": layer_norm,
        }
        for option, value in unpublished.items():
            if value:
                raise ValueError(
                    f"--initialization published does not define the starting values of {option}: "
                    "use --initialization default"
                )
    return GRUVariant(
        gate_bias=not cfg.no_gate_bias,
        rank=cfg.gru_rank,
        input_skip=cfg.skip_io,
        time_skip=cfg.skip_time,
        layer_norm=layer_norm,
        recurrent_dropout=cfg.recurrent_dropout,
    )
