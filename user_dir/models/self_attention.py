"""From the options to the self-attention on either side."""

from __future__ import annotations

from recurrent_mt.layers.self_attention import DecoderSelfAttention, EncoderSelfAttention

from .config import EncoderDecoderConfig


def encoder_self_attention(
    cfg: EncoderDecoderConfig, *, annotation_size: int, summary_size: int, dropout: float
) -> EncoderSelfAttention | None:
    """The self-attention over an encoder's annotations, or None if it is off.

    Raises:
        ValueError: if the heads do not divide the annotations, if their starting values are not defined, or if the
            summary is to attend but is not as wide as the annotations.
    """
    option, heads = "--encoder-self-attention-heads", cfg.encoder_self_attention_heads
    of_summary = str(cfg.decoder_attention) == "none"
    if not heads:
        return None
    _check_heads(cfg, option, heads, units=annotation_size, of="the annotations")
    if of_summary and summary_size != annotation_size:
        raise ValueError(
            f"{option} with --decoder-attention none lets the summary attend to the annotations, but it has "
            f"{summary_size} units and they have {annotation_size}"
        )
    return EncoderSelfAttention(annotation_size, num_heads=heads, dropout=dropout, of_summary=of_summary)


def decoder_self_attention(cfg: EncoderDecoderConfig, *, dropout: float) -> DecoderSelfAttention | None:
    """The causal self-attention over the decoder's top layer, or None if it is off.

    Raises:
        ValueError: if the heads do not divide the layer's units, or if their starting values are not defined.
    """
    option, heads, size = "--decoder-self-attention-heads", cfg.decoder_self_attention_heads, cfg.decoder_hidden_size
    if not heads:
        return None
    _check_heads(cfg, option, heads, units=size, of="--decoder-hidden-size")
    return DecoderSelfAttention(size, num_heads=heads, dropout=dropout)


def _check_heads(cfg: EncoderDecoderConfig, option: str, heads: int, *, units: int, of: str) -> None:
    """Rejects a number of heads that the option cannot have; ``of`` says whose units they share."""
    if heads < 0:
        raise ValueError(f"{option} must be 0 (off) or more, not {heads}")
    if units % heads:
        raise ValueError(f"{option} {heads} must divide the units of {of}, {units}")
    if str(cfg.initialization) == "published":
        raise ValueError(
            f"--initialization published does not define the starting values of {option}: use --initialization default"
        )
