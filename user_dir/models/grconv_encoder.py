"""``grconv_encoder``: the gated recursive convolutional network of Cho et al. (2014b)."""

from dataclasses import dataclass

from fairseq.dataclass import ChoiceEnum
from fairseq.models import register_model
from torch import nn

from recurrent_mt.kernels.grconv import ACTIVATIONS
from recurrent_mt.layers.grconv import GRConvEncoder

from .config import EncoderDecoderConfig, option
from .encoder_decoder import EncoderDecoderModel

ACTIVATION_CHOICES = ChoiceEnum(list(ACTIVATIONS))
ANNOTATION_CHOICES = ChoiceEnum(["leaves", "pyramid"])


@dataclass
class GRConvEncoderConfig(EncoderDecoderConfig):
    """Options of ``grconv_encoder``."""

    grconv_activation: ACTIVATION_CHOICES = option(
        "tanh", "activation of a new node (Cho et al. 2014b, section 2.2; an option in the authors' released code too)"
    )
    grconv_annotations: ANNOTATION_CHOICES = option(
        "leaves",
        "what attention may look at: the 'leaves', or words and phrases alike, the nodes of the 'pyramid' (Cho et al. "
        "2014b, section 2.2) up to --grconv-annotation-height; alignments spread a node's weight evenly over its words",
    )
    grconv_annotation_height: int = option(
        0,
        "last level of the pyramid that attention may look at, K for phrases of up to K + 1 words (this project's own)",
    )
    grconv_height: int = option(
        0,
        "last level of the pyramid that is computed, for a cost linear in the length (this project's own); the summary "
        "of a sentence too long for a root is the mean of its nodes there; 0: up to the root (Cho et al. 2014b)",
    )
    grconv_unit_gates: bool = option(
        False, "three gates for each unit of a node (Chen et al. 2015), not three for the whole node (Cho et al. 2014b)"
    )
    checkpoint_levels: int = option(
        0,
        "K: keep one of K levels of the pyramid for the backward pass and compute the others again, where memory is "
        "short (Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost); 0: keep all that takes a product",
        keeps_function=True,
    )


@register_model("grconv_encoder", dataclass=GRConvEncoderConfig)
class GRConvEncoderModel(EncoderDecoderModel):
    """grConv. With attention, the decoder reads the leaves or all phrases, and its first state comes from the root."""

    @classmethod
    def build_encoder_layer(cls, config: GRConvEncoderConfig) -> nn.Module:
        """A pyramid over the words.

        Raises:
            ValueError: if the annotation options contradict each other, or if nothing would read a pyramid.
        """
        annotations, annotation_height = str(config.grconv_annotations), config.grconv_annotation_height
        if annotations == "pyramid" and str(config.decoder_attention) == "none":
            raise ValueError(
                "--grconv-annotations pyramid with --decoder-attention none never reads the pyramid's nodes: "
                "use attention, or --grconv-annotations leaves"
            )
        if annotations == "pyramid" and annotation_height < 1:
            raise ValueError(
                "--grconv-annotations pyramid needs --grconv-annotation-height 1 (phrases of two words) or more, "
                f"not {annotation_height}"
            )
        if annotations == "leaves" and annotation_height:
            raise ValueError(
                f"--grconv-annotation-height {annotation_height} needs --grconv-annotations pyramid, not leaves"
            )
        return GRConvEncoder(
            config.encoder_embed_dim,
            config.encoder_hidden_size,
            activation=str(config.grconv_activation),
            height=config.grconv_height,
            annotation_height=annotation_height,
            unit_gates=config.grconv_unit_gates,
            checkpoint_levels=config.checkpoint_levels,
            backend=str(config.kernel_backend),
        )
