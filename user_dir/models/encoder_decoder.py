"""What all models here have in common: everything but the encoder's layer."""

from __future__ import annotations

from fairseq import utils
from fairseq.models import FairseqEncoderDecoderModel
from fairseq.modules import AdaptiveSoftmax
from fairseq.tasks import FairseqTask
from omegaconf import OmegaConf
from torch import nn

from ..layers.decoder import GRUDecoder
from .config import EncoderDecoderConfig
from .decoder import Decoder
from .embeddings import build_embeddings
from .encoder import Encoder


class EncoderDecoderModel(FairseqEncoderDecoderModel):
    """An encoder of :mod:`user_dir.layers` with the GRU decoder.

    A subclass is a model: it registers itself with its own dataclass and says how its encoder's layer is built.
    """

    @classmethod
    def build_encoder_layer(cls, config: EncoderDecoderConfig) -> nn.Module:
        """The module inside :class:`~user_dir.models.encoder.Encoder`."""
        raise NotImplementedError

    @classmethod
    def build_model(cls, cfg: EncoderDecoderConfig, task: FairseqTask) -> EncoderDecoderModel:
        """Builds a model from its options.

        Raises:
            ValueError: if options contradict each other; the message names them.
        """
        check_sizes(cfg)
        max_source_positions, max_target_positions = task.max_positions()
        source_embedding, target_embedding = build_embeddings(cfg, task.source_dictionary, task.target_dictionary)
        encoder = Encoder(
            task.source_dictionary,
            source_embedding,
            layer=cls.build_encoder_layer(cfg),
            dropout_in=dropout(cfg, "encoder_dropout_in"),
            dropout_out=dropout(cfg, "encoder_dropout_out"),
            max_positions=max_source_positions,
        )
        attention = str(cfg.decoder_attention)
        decoder = Decoder(
            task.target_dictionary,
            target_embedding,
            layer=GRUDecoder(
                cfg.decoder_embed_dim,
                cfg.decoder_hidden_size,
                output_size=cfg.decoder_out_embed_dim,
                annotation_size=encoder.layer.annotation_size,
                summary_size=encoder.layer.summary_size,
                attention=None if attention == "none" else attention,
                num_layers=cfg.decoder_layers,
                dropout=dropout(cfg, "decoder_dropout_out"),
            ),
            output=build_output(cfg, target_embedding),
            dropout_in=dropout(cfg, "decoder_dropout_in"),
            dropout_out=dropout(cfg, "decoder_dropout_out"),
            max_positions=max_target_positions,
        )
        return cls(encoder, decoder)


def dropout(cfg: EncoderDecoderConfig, name: str) -> float:
    """The dropout of that place, or the general one if it has none of its own."""
    own = getattr(cfg, name)
    return cfg.dropout if own is None else own


def check_sizes(cfg: EncoderDecoderConfig) -> None:
    """Refuses sizes and numbers of layers below one.

    Raises:
        ValueError: naming the option and its value.
    """
    options = OmegaConf.to_container(cfg) if OmegaConf.is_config(cfg) else vars(cfg)
    for name, value in options.items():
        if name.endswith(("_dim", "_size", "_layers")) and value < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be at least 1, not {value}")


def build_output(cfg: EncoderDecoderConfig, target_embedding: nn.Embedding) -> nn.Linear | AdaptiveSoftmax:
    """The layer from features to scores of the vocabulary.

    Raises:
        ValueError: if the output is to be shared with an embedding and cannot be.
    """
    vocabulary, size = target_embedding.num_embeddings, cfg.decoder_out_embed_dim
    shared = cfg.share_decoder_input_output_embed or cfg.share_all_embeddings
    if cfg.adaptive_softmax_cutoff is not None:
        if shared:
            raise ValueError("--adaptive-softmax-cutoff and a shared output embedding exclude each other")
        cutoffs = utils.eval_str_list(cfg.adaptive_softmax_cutoff, type=int)
        return AdaptiveSoftmax(vocabulary, size, cutoffs, dropout=dropout(cfg, "decoder_dropout_out"))
    if shared and size != cfg.decoder_embed_dim:
        raise ValueError(
            f"a shared output embedding needs --decoder-out-embed-dim ({size}) to equal "
            f"--decoder-embed-dim ({cfg.decoder_embed_dim})"
        )
    output = nn.Linear(size, vocabulary, bias=not shared)
    if shared:
        output.weight = target_embedding.weight
    else:
        nn.init.uniform_(output.weight, -0.1, 0.1)
        nn.init.zeros_(output.bias)
    return output
