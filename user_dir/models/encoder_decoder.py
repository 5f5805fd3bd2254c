"""From options to a model: everything but the encoder's layer, which is each model's own."""

from __future__ import annotations

import functools
from typing import Any, cast

from fairseq.dataclass.configs import FairseqConfig
from fairseq.models import FairseqEncoderDecoderModel
from fairseq.tasks import FairseqTask
from omegaconf import OmegaConf
from torch import nn

from recurrent_mt.layers.attention import Attention, DecoderSelfAttention, EncoderSelfAttention
from recurrent_mt.layers.conditioned_gru import ConditionedGRU
from recurrent_mt.layers.decoder import GRUDecoder, Readout
from recurrent_mt.layers.dropout import owner_names
from recurrent_mt.layers.gru import InputSkip
from recurrent_mt.layers.gru_cell import GRUCell, GRUVariant
from recurrent_mt.layers.linear import Linear
from recurrent_mt.layers.min_gru import MinGRU
from recurrent_mt.layers.min_gru_decoder import MinGRUDecoder
from recurrent_mt.layers.published_initialization import initialize_as_published_
from recurrent_mt.layers.weights import projection

from .autocast import Autocast
from .config import WORD_FIRST, EncoderDecoderConfig
from .embeddings import build_embeddings, load_pretrained
from .model import Decoder, Encoder
from .removed import check_removed

#: The least that options may be, by how their names end: less would be another model, without a word.
LEAST = {
    **dict.fromkeys(("_dim", "_size", "_layers", "_depth", "_weights"), 1),
    **dict.fromkeys(("_rank", "_heads", "_height"), 0),
}


class EncoderDecoderModel(FairseqEncoderDecoderModel):
    """An encoder of :mod:`recurrent_mt.layers` with the GRU decoder.

    A subclass is a model: it registers itself with its own dataclass and defines how its encoder layer is built.

    Attributes:
        normalizes_layers: whether the encoder layer has the norms of ``--encoder-layer-norm`` itself.
    """

    normalizes_layers = False

    @classmethod
    def build_encoder_layer(cls, config: EncoderDecoderConfig) -> nn.Module:
        """Builds the module inside :class:`~user_dir.models.model.Encoder`."""
        raise NotImplementedError

    @classmethod
    def build_model(cls, cfg: EncoderDecoderConfig, task: FairseqTask) -> EncoderDecoderModel:
        """Builds a model from its options.

        Raises:
            ValueError: if options contradict each other; the message names them.
        """
        check_removed(cfg)
        check_sizes(cfg)
        check_published(cfg)
        max_source_positions, max_target_positions = task.max_positions()
        source_embedding, target_embedding = build_embeddings(cfg, task.source_dictionary, task.target_dictionary)
        layer = cls.build_encoder_layer(cfg)
        sizes = {name: cast(int, getattr(layer, name)) for name in ("annotation_size", "summary_size")}
        # One for annotations and summary, which are of the same size.
        has_norm = cfg.encoder_layer_norm and not cls.normalizes_layers
        norm = nn.LayerNorm(sizes["annotation_size"]) if has_norm else None
        autocast = Autocast(str(cfg.autocast))
        encoder = Encoder(
            task.source_dictionary,
            source_embedding,
            layer=layer,
            dropouts=(cfg.dropout, cfg.word_dropout),
            max_positions=max_source_positions,
            norm=norm,
            self_attention=encoder_self_attention(cfg, sizes["annotation_size"]),
            autocast=autocast,
        )
        decoder = Decoder(
            task.target_dictionary,
            target_embedding,
            layer=build_decoder_layer(cfg, **sizes),
            output=build_output(cfg, target_embedding),
            dropouts=(cfg.dropout, cfg.word_dropout),
            max_positions=max_target_positions,
            autocast=autocast,
        )
        if str(cfg.initialization) == "published":
            initialize_as_published_(encoder, spectral_radius=cfg.encoder_spectral_radius)
            initialize_as_published_(decoder, spectral_radius=cfg.decoder_spectral_radius)
        # After all that draws numbers. Where all embeddings are shared, there is one file at the most.
        if cfg.encoder_embed_path:
            load_pretrained(source_embedding, task.source_dictionary, cfg.encoder_embed_path)
        if cfg.decoder_embed_path and not cfg.share_all_embeddings:
            load_pretrained(target_embedding, task.target_dictionary, cfg.decoder_embed_path)
        model = cls(encoder, decoder)
        check_gru_options(cfg, model)
        return model

    def prepare_for_inference_(self, cfg: FairseqConfig) -> None:
        """Called by fairseq before it translates, for each model of an ensemble.

        Raises:
            ValueError: if alignments are asked of a model that has none.
        """
        if cfg.generation.print_alignment and self.decoder.layer.attention is None:
            raise ValueError("--print-alignment needs attention, but a model was trained with --decoder-attention none")
        super().prepare_for_inference_(cfg)

    def make_generation_fast_(self, **kwargs: Any) -> None:
        """Called by fairseq's ``prepare_for_inference_``; fairseq's own dropout looks for its name in a list."""
        if kwargs.get("retain_dropout_modules") is not None:
            kwargs["retain_dropout_modules"] = owner_names(kwargs["retain_dropout_modules"])
        super().make_generation_fast_(**kwargs)


def build_decoder_layer(
    cfg: EncoderDecoderConfig, *, annotation_size: int, summary_size: int
) -> GRUDecoder | MinGRUDecoder:
    """The decoder's recurrence and readout for an encoder with these sizes."""
    attention = None if str(cfg.decoder_attention) == "none" else str(cfg.decoder_attention)
    embed_size, size = cfg.decoder_embed_dim, cfg.decoder_hidden_size
    context_size = summary_size if attention is None else annotation_size
    readout = functools.partial(
        Readout,
        state_size=size,
        embed_size=embed_size,
        context_size=context_size,
        output_size=cfg.decoder_out_embed_dim,
        maxout=str(cfg.decoder_readout) == "maxout",
    )
    common: dict[str, Any] = {
        "summary_size": summary_size,
        "num_layers": cfg.decoder_layers,
        "dropout": cfg.dropout,
    }
    if cfg.decoder_second_hop and (attention is None or str(cfg.decoder_cell) != "min_gru"):
        raise ValueError(
            "--decoder-second-hop needs --decoder-cell min_gru, and an attention that asks again: leave it out (where "
            "a configuration has it, model.decoder_second_hop=false)"
        )
    if str(cfg.decoder_cell) == "min_gru":
        layer = functools.partial(MinGRU, hidden_size=size, variant=min_gru_variant(cfg, "decoder"))
        sizes = {"state_size": size, "annotation_size": context_size, "hops": 1 + cfg.decoder_second_hop}
        return MinGRUDecoder(
            layer(embed_size),
            None if attention is None else Attention(attention, **sizes),
            layer(context_size),
            readout(),
            self_attention=decoder_self_attention(cfg),
            **common,
        )
    variant = gru_variant(cfg, "decoder")
    return GRUDecoder(
        ConditionedGRU(embed_size, size, context_size=context_size, attention=attention, variant=variant),
        readout(),
        word_first=str(cfg.decoder_order) in WORD_FIRST,
        self_attention=decoder_self_attention(cfg),
        **common,
    )


def min_gru_variant(cfg: EncoderDecoderConfig, side: str) -> GRUVariant:
    """What minimal GRU layers have besides the equations.

    Raises:
        ValueError: if an option of the decoder does not go with them.
    """
    layer_norm, input_skip = getattr(cfg, f"{side}_layer_norm"), side == "encoder" and cfg.skip_io
    refused = {
        "--decoder-transition-depth": cfg.decoder_transition_depth != 1,
        "--decoder-order attention_first": str(cfg.decoder_order) not in WORD_FIRST,
    }
    for option in (option for option, value in refused.items() if side == "decoder" and value):
        raise ValueError(f"--decoder-cell min_gru does not go with {option}: leave out one of the two")
    return GRUVariant(rank=cfg.gru_rank, layer_norm=layer_norm, input_skip=input_skip, token_shift=cfg.token_shift)


#: Options of layers whose starting values --initialization published does not define, with their values when off.
UNPUBLISHED = {
    "gru_rank": 0,
    "skip_time": 0,
    "token_shift": False,
    "grconv_dilated": False,
    **{f"{side}_layer_norm": False for side in ("encoder", "decoder")},
    **{f"{side}_transition_depth": 1 for side in ("encoder", "decoder")},
    **{f"{side}_self_attention_heads": 0 for side in ("encoder", "decoder")},
}


def check_sizes(cfg: EncoderDecoderConfig) -> None:
    """Raises ValueError that names a size below its least."""
    options = cast("dict[str, Any]", OmegaConf.to_container(cfg)) if OmegaConf.is_config(cfg) else vars(cfg)
    for name, value in options.items():
        least = next((least for ending, least in LEAST.items() if name.endswith(ending)), None)
        if least is not None and isinstance(value, int) and value < least:
            raise ValueError(f"--{name.replace('_', '-')} must be at least {least}, not {value}")


def check_published(cfg: EncoderDecoderConfig) -> None:
    """Rejects options that are set where the published starting values do not cover them."""
    options = UNPUBLISHED if str(cfg.initialization) == "published" else {}
    for option in (name for name, off in options.items() if getattr(cfg, name, off) != off):
        raise ValueError(
            f"--initialization published does not define the starting values of --{option.replace('_', '-')}: "
            "use --initialization default"
        )


def check_gru_options(cfg: EncoderDecoderConfig, model: nn.Module) -> None:
    """Rejects options of one kind of GRUs in a model that has none of it.

    Raises:
        ValueError: naming the option.
    """
    readers: dict[str, type[nn.Module]] = {
        "recurrent_dropout": GRUCell,
        "skip_time": GRUCell,
        "no_gate_bias": GRUCell,
        "skip_io": InputSkip,
        "token_shift": MinGRU,
    }
    for name, reader in readers.items():
        if getattr(cfg, name) and not any(isinstance(part, reader) for part in model.modules()):
            raise ValueError(f"--{name.replace('_', '-')} is never read: this model has no GRU that it is for")


def build_output(cfg: EncoderDecoderConfig, target_embedding: nn.Embedding) -> nn.Module:
    """The layer from features to scores over the vocabulary.

    Raises:
        ValueError: if output options exclude each other or their sizes do not fit.
    """
    vocabulary, size, rank = target_embedding.num_embeddings, cfg.decoder_out_embed_dim, cfg.decoder_output_rank
    shared = cfg.share_decoder_input_output_embed or cfg.share_all_embeddings
    if shared and (rank or size) != cfg.decoder_embed_dim:
        option = "--decoder-output-rank" if rank else "--decoder-out-embed-dim"
        raise ValueError(
            f"a shared output embedding needs {option} ({rank or size}) to equal "
            f"--decoder-embed-dim ({cfg.decoder_embed_dim})"
        )
    output = Linear(rank or size, vocabulary, bias=not shared)
    if shared:
        output.weight = target_embedding.weight
    else:
        nn.init.uniform_(output.weight, -0.1, 0.1)
        nn.init.zeros_(output.bias)
    return nn.Sequential(projection(size, rank, bias=False), output) if rank else output


def gru_variant(cfg: EncoderDecoderConfig, side: str) -> GRUVariant:
    """The variant of the GRU layers on one side.

    Args:
        cfg: the model's options.
        side: ``encoder`` or ``decoder``, whose own options begin with that.

    Raises:
        ValueError: if numbers of matrices are to be dropped that are products.
    """
    if cfg.gru_rank and cfg.recurrent_dropout:
        raise ValueError("--recurrent-dropout drops numbers of whole matrices: it does not work with --gru-rank")
    return GRUVariant(
        gate_bias=not cfg.no_gate_bias,
        rank=cfg.gru_rank,
        input_skip=cfg.skip_io,
        time_skip=cfg.skip_time,
        layer_norm=getattr(cfg, f"{side}_layer_norm"),
        recurrent_dropout=cfg.recurrent_dropout,
        transition_depth=getattr(cfg, f"{side}_transition_depth"),
    )


def encoder_self_attention(cfg: EncoderDecoderConfig, annotation_size: int) -> EncoderSelfAttention | None:
    """The self-attention over an encoder's annotations, or None if it is off."""
    heads, of_summary = cfg.encoder_self_attention_heads, str(cfg.decoder_attention) == "none"
    if not heads:
        return None
    # Without attention, models have a summary as wide as the annotations.
    return EncoderSelfAttention(annotation_size, num_heads=heads, dropout=cfg.dropout, of_summary=of_summary)


def decoder_self_attention(cfg: EncoderDecoderConfig) -> DecoderSelfAttention | None:
    """The causal self-attention over the decoder's top layer, or None if it is off."""
    heads = cfg.decoder_self_attention_heads
    return DecoderSelfAttention(cfg.decoder_hidden_size, num_heads=heads, dropout=cfg.dropout) if heads else None
