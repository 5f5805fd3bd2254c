"""``gru_encoder``: the encoders of Cho et al. (2014a) and Bahdanau et al. (2015)."""

from dataclasses import dataclass

from fairseq.dataclass import ChoiceEnum
from fairseq.models import register_model
from torch import nn

from recurrent_mt.layers.gru import SUMMARIES, GRUEncoder

from .config import EncoderDecoderConfig, option
from .encoder_decoder import EncoderDecoderModel, gru_variant

ENCODER_SUMMARY_CHOICES = ChoiceEnum(list(SUMMARIES))


@dataclass
class GRUEncoderConfig(EncoderDecoderConfig):
    """Options of ``gru_encoder``."""

    encoder_layers: int = option(1, "number of encoder layers, as in fairseq's lstm (Bahdanau et al. 2015: 1)")
    encoder_bidirectional: bool = option(
        False, "read the source in both directions, in every layer (Bahdanau et al. 2015, section 3.2)"
    )
    encoder_transition_depth: int = option(
        1,
        "L: GRU cells in a row within each time step of an encoder layer, in each direction, the first with the input, "
        "the others with the previous cell's state alone (Miceli Barone et al. 2017, section 2.2; Pascanu et al. 2014)",
    )
    encoder_summary: ENCODER_SUMMARY_CHOICES = option(
        "both",
        "the states that form the summary: the last of 'both' directions, the 'forward' one (Cho et al. 2014), or the "
        "'backward' one, at the first word (Bahdanau et al. 2015, A.2.2)",
    )


@register_model("gru_encoder", dataclass=GRUEncoderConfig)
class GRUEncoderModel(EncoderDecoderModel):
    """RNNenc with ``--decoder-attention none``; RNNsearch with ``additive`` and ``--encoder-bidirectional``."""

    normalizes_layers = True

    @classmethod
    def build_encoder_layer(cls, config: GRUEncoderConfig) -> nn.Module:
        """A stack of GRU layers.

        Raises:
            ValueError: if nothing would read one direction's states.
        """
        summary, attention = str(config.encoder_summary), str(config.decoder_attention)
        if config.encoder_bidirectional and summary != "both" and attention == "none":
            raise ValueError(
                f"--encoder-summary {summary} with --decoder-attention none does not read one direction of "
                "--encoder-bidirectional: use --encoder-summary both, or attention, or one direction"
            )
        return GRUEncoder(
            config.encoder_embed_dim,
            config.encoder_hidden_size,
            num_layers=config.encoder_layers,
            bidirectional=config.encoder_bidirectional,
            summary=summary,
            dropout=config.dropout,
            variant=gru_variant(config, "encoder"),
        )
