"""``grconv_encoder``: the gated recursive convolutional network of Cho et al. (2014b), as published or dilated."""

from collections.abc import Sequence
from dataclasses import dataclass

from fairseq.dataclass import ChoiceEnum
from fairseq.models import register_model
from torch import nn

from recurrent_mt.kernels.grconv import ACTIVATIONS
from recurrent_mt.layers.grconv import DILATED_SUMMARIES, DilatedGRConvEncoder, GRConvEncoder

from .config import EncoderDecoderConfig, option
from .encoder_decoder import EncoderDecoderModel

ACTIVATION_CHOICES = ChoiceEnum(list(ACTIVATIONS))
ANNOTATION_CHOICES = ChoiceEnum(["leaves", "pyramid"])
DILATED_SUMMARY_CHOICES = ChoiceEnum(list(DILATED_SUMMARIES))


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
        "last level that is computed, for a cost linear in the length (this project's own); the summary of a sentence "
        "too long for a root is the mean of the pyramid's nodes there, or, with --grconv-dilated, the highest nodes at "
        "both ends; 0: up to the root (Cho et al. 2014b)",
    )
    grconv_dilated: bool = option(
        False,
        "in place of the pyramid: on level t, the node at each word joins the one 2^(t-1) words before it, up to level "
        "log2 n; a second copy, with weights of its own, joins those after it; each has half of --encoder-hidden-size "
        "(this project's own, with the merge of Cho et al. 2014b and the distances of Kalchbrenner et al. 2016)",
    )
    grconv_dilated_summary: DILATED_SUMMARY_CHOICES = option(
        "roots",
        "the fixed vector of a sentence with --grconv-dilated: the 'roots', two nodes that have merged all its words, "
        "or of each unit the 'max' over what attention would read (Conneau et al. 2017, section 3.2.2)",
    )
    grconv_dilated_positions: bool = option(
        False,
        "with --grconv-dilated, add to each leaf what is learned about sines and cosines of its position, so that "
        "attention can tell equal phrases apart (this project's own, after Vaswani et al. 2017, section 3.5)",
    )
    grconv_dilated_weights: int = option(
        1,
        "sets of matrices and biases with --grconv-dilated, one for each of the lowest levels, the last also for all "
        "above it; 1: shared by all levels, as in Cho et al. (2014b)",
    )


PYRAMID_ONLY = ("grconv_activation", "grconv_annotations", "grconv_annotation_height")
DILATED_ONLY = ("grconv_dilated_summary", "grconv_dilated_positions", "grconv_dilated_weights")


@register_model("grconv_encoder", dataclass=GRConvEncoderConfig)
class GRConvEncoderModel(EncoderDecoderModel):
    """grConv. With attention, the decoder reads leaves, phrases, or nodes; its first state comes from the root."""

    @classmethod
    def build_encoder_layer(cls, config: GRConvEncoderConfig) -> nn.Module:
        """A pyramid over the words, or dilated merges in both directions.

        Raises:
            ValueError: if options contradict each other, or if nothing would read what they ask for.
        """
        return build_dilated(config) if config.grconv_dilated else build_pyramid(config)


def flag(name: str) -> str:
    """An option as it is given on the command line."""
    return f"--{name.replace('_', '-')}"


def check_defaults(config: GRConvEncoderConfig, names: Sequence[str], message: str) -> None:
    """Rejects options that nothing reads.

    Raises:
        ValueError: with the option, its value, and the message.
    """
    for name in names:
        value = getattr(config, name)
        if str(value) != str(getattr(GRConvEncoderConfig, name)):
            shown = flag(name) if value is True else f"{flag(name)} {value}"
            raise ValueError(f"{shown} {message}")


def build_dilated(config: GRConvEncoderConfig) -> DilatedGRConvEncoder:
    """Merges in both directions.

    Raises:
        ValueError: if an option is the pyramid's alone, or if a value makes no sense.
    """
    check_defaults(config, PYRAMID_ONLY, "is for the pyramid of grconv_encoder: it does not work with --grconv-dilated")
    return DilatedGRConvEncoder(
        config.encoder_embed_dim,
        config.encoder_hidden_size,
        summary=str(config.grconv_dilated_summary),
        height=config.grconv_height,
        positions=config.grconv_dilated_positions,
        weight_sets=config.grconv_dilated_weights,
    )


def build_pyramid(config: GRConvEncoderConfig) -> GRConvEncoder:
    """A pyramid over the words.

    Raises:
        ValueError: if the annotation options contradict each other, or if nothing would read a pyramid.
    """
    check_defaults(config, DILATED_ONLY, "needs --grconv-dilated")
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
    )
