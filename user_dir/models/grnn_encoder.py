"""``grnn_encoder``: the gated recursive neural network of Chen et al. (2015)."""

from dataclasses import dataclass

from fairseq.dataclass import ChoiceEnum
from fairseq.models import register_model
from torch import nn

from recurrent_mt.layers.grnn import ANNOTATIONS, GRNNEncoder

from .config import EncoderDecoderConfig, option
from .encoder_decoder import EncoderDecoderModel

GRNN_ANNOTATIONS_CHOICES = ChoiceEnum(list(ANNOTATIONS))


@dataclass
class GRNNEncoderConfig(EncoderDecoderConfig):
    """Options of ``grnn_encoder``."""

    grnn_annotations: GRNN_ANNOTATIONS_CHOICES = option(
        "leaves",
        "what attention reads of the binary tree (Chen et al. 2015): 'leaves' the words alone, 'ancestors' each word "
        "plus all nodes above it",
    )


@register_model("grnn_encoder", dataclass=GRNNEncoderConfig)
class GRNNEncoderModel(EncoderDecoderModel):
    """A full binary tree. Its root is the summary; its leaves, or they and all nodes above them, the annotations."""

    @classmethod
    def build_encoder_layer(cls, config: GRNNEncoderConfig) -> nn.Module:
        """A tree over the words.

        Raises:
            ValueError: if nothing would read the annotations asked for.
        """
        unread = str(config.decoder_attention) == "none" and not config.encoder_self_attention_heads
        if str(config.grnn_annotations) == "ancestors" and unread:
            raise ValueError(
                "--grnn-annotations ancestors with --decoder-attention none never reads them: use attention, or "
                "--grnn-annotations leaves"
            )
        return GRNNEncoder(
            config.encoder_embed_dim, config.encoder_hidden_size, annotations=str(config.grnn_annotations)
        )
