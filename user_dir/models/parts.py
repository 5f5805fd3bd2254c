"""From the options to parts of a model: embeddings, self-attention, what GRU layers have besides their equations."""

from __future__ import annotations

import functools
import logging
from pathlib import Path

from fairseq import utils
from fairseq.data import Dictionary
from torch import nn

from recurrent_mt.layers.attention import DecoderSelfAttention, EncoderSelfAttention
from recurrent_mt.layers.gru_cell import GRUVariant
from recurrent_mt.layers.weights import BiasedEmbedding

from .config import EncoderDecoderConfig


def build_embeddings(
    config: EncoderDecoderConfig, source: Dictionary, target: Dictionary
) -> tuple[nn.Embedding, nn.Embedding]:
    """The source and target embeddings; the same module if all embeddings are shared.

    Raises:
        ValueError: if options contradict each other or an embedding file does not fit.
        FileNotFoundError: if an embedding file is missing.
    """
    biased = config.embed_bias
    source_embedding = build_embedding(source, config.encoder_embed_dim, biased=biased)
    if config.share_all_embeddings:
        _check_shareable(config, source, target)
        target_embedding = source_embedding
    else:
        target_embedding = build_embedding(target, config.decoder_embed_dim, biased=biased)
    if config.encoder_freeze_embed:
        source_embedding.requires_grad_(False)
    if config.decoder_freeze_embed:
        target_embedding.requires_grad_(False)
    return source_embedding, target_embedding


def build_embedding(dictionary: Dictionary, size: int, *, biased: bool = False) -> nn.Embedding:
    """An embedding of ``size`` units for each word, drawn at random."""
    kind = BiasedEmbedding if biased else nn.Embedding
    embedding = kind(len(dictionary), size, padding_idx=dictionary.pad())
    nn.init.uniform_(embedding.weight, -0.1, 0.1)
    nn.init.zeros_(embedding.weight[dictionary.pad()].detach())
    return embedding


def load_pretrained(embedding: nn.Embedding, dictionary: Dictionary, path: str) -> None:
    """Gives the words that the file at ``path`` has its vectors; the others keep what they have.

    Call it after every initialization: a row that is drawn anew is lost.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no file of embeddings, or its vectors have not as many numbers as the embedding.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"there is no embedding file at {path}; a trained model does not need it: use "
            "--model-overrides \"{'encoder_embed_path': None, 'decoder_embed_path': None}\""
        )
    vectors = utils.parse_embedding(path)
    utils.print_embed_overlap(vectors, dictionary)
    utils.load_embedding(vectors, dictionary, embedding)


def _check_shareable(config: EncoderDecoderConfig, source: Dictionary, target: Dictionary) -> None:
    if source != target:
        raise ValueError("--share-all-embeddings needs a joined dictionary (fairseq-preprocess --joined-dictionary)")
    if config.encoder_embed_dim != config.decoder_embed_dim:
        raise ValueError(
            f"--share-all-embeddings needs --encoder-embed-dim ({config.encoder_embed_dim}) to equal "
            f"--decoder-embed-dim ({config.decoder_embed_dim})"
        )
    if config.decoder_embed_path and config.decoder_embed_path != config.encoder_embed_path:
        raise ValueError("--share-all-embeddings does not allow a separate --decoder-embed-path")


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
    transition_depth, layer_norm = getattr(cfg, f"{side}_transition_depth"), getattr(cfg, f"{side}_layer_norm")
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
        "--skip-time": cfg.skip_time,
    }
    unpublished = {
        "--gru-rank": cfg.gru_rank,
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
