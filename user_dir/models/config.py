"""The options that all models share. An option is defined here, or in the model's own file, and nowhere else.

fairseq makes command-line flags and Hydra keys of these dataclasses. It reads the annotations as types, so this file
must not postpone their evaluation, and an optional value is spelled ``Optional``. A bool never defaults to True:
fairseq would invert its flag.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum

from recurrent_mt.layers.attention import ATTENTIONS

from .autocast import DTYPES
from .removed import RemovedOptions

DECODER_CELL_CHOICES = ChoiceEnum(["gru", "min_gru"])
DECODER_READOUT_CHOICES = ChoiceEnum(["maxout", "linear"])
DECODER_ATTENTION_CHOICES = ChoiceEnum(["none", *ATTENTIONS])
# Older checkpoints and commands call the same two orders score_first and update_first.
FORMER_ORDERS = {"score_first": "word_first", "update_first": "attention_first"}
WORD_FIRST = ("word_first", "score_first")
DECODER_ORDER_CHOICES = ChoiceEnum([*WORD_FIRST, "attention_first", "update_first"])
AUTOCAST_CHOICES = ChoiceEnum(list(DTYPES))
INITIALIZATION_CHOICES = ChoiceEnum(["default", "published"])


def option(
    default: Any,
    text: str,
    *,
    decides: str | None = "function",
    former_names: Mapping[str, str] | None = None,
    was_fixed: bool = False,
) -> Any:
    """A dataclass field with its help text, which names the source; a meaningful default is added to the text.

    Args:
        default: its value where none is given, also for checkpoints that are older than the option.
        text: the help.
        decides: "function", what a model computes; "training", what a training makes of it, as with dropout, starting
            values, and the precision of products; or None, neither, as with kernels. A difference in the first is
            refused when a training continues from a checkpoint (``fairseq_compat/repairs/comparisons.py``).
        former_names: of values, and what each is called now.
        was_fixed: whether the default is what there was before the option, so that experiments of before, which do not
            name it, are still the same (``recurrent_mt/runs/defaults.py`` reads it in the source).
    """
    shown = "" if default is None or default is False else f" (default: {default})"
    marks = {"decides": decides, "former_names": former_names or {}, "was_fixed": was_fixed}
    return field(default=default, metadata={"help": text + shown, **marks})


@dataclass
class EncoderDecoderConfig(RemovedOptions):
    """Options of every model here, with the names that fairseq's ``lstm`` uses where it has them."""

    dropout: float = option(
        0.1,
        "dropout probability of embeddings, annotations, summary, readout, and between layers, as in fairseq's lstm",
        decides="training",
    )
    recurrent_dropout: float = option(
        0.0,
        "probability of dropping a number of the GRUs' recurrent matrices, in the decoder and in gru_encoder, for all "
        "steps of a batch at once (Merity et al. 2018, section 3); in a search with --retain-dropout, the decoder "
        "drops other numbers at each step",
        decides="training",
    )
    word_dropout: float = option(
        0.0,
        "probability of dropping the whole embedding of a word, on both sides (Gal and Ghahramani 2016; Sennrich and "
        "Zhang 2019, section 3.1)",
        decides="training",
    )

    encoder_embed_dim: int = option(512, "source embedding dimension (Bahdanau et al. 2015, A.2.3: 620)")
    encoder_embed_path: Optional[str] = option(
        None, "file of pretrained source embeddings, as in fairseq's lstm", decides=None
    )
    encoder_freeze_embed: bool = option(
        False,
        "do not train the source embeddings, as in fairseq's lstm; refused where the output layer shares them",
        decides="training",
    )
    encoder_hidden_size: int = option(
        512,
        "units of the encoder, of each direction in a bidirectional gru_encoder (Bahdanau et al. 2015, A.2.3: 1000)",
    )

    decoder_embed_dim: int = option(512, "target embedding dimension (Bahdanau et al. 2015, A.2.3: 620)")
    decoder_embed_path: Optional[str] = option(
        None, "file of pretrained target embeddings, as in fairseq's lstm", decides=None
    )
    decoder_freeze_embed: bool = option(
        False,
        "do not train the target embeddings, as in fairseq's lstm; refused where the output layer shares them",
        decides="training",
    )
    decoder_hidden_size: int = option(512, "units of the decoder (Bahdanau et al. 2015, A.2.3: 1000)")
    decoder_cell: DECODER_CELL_CHOICES = option(
        "gru",
        "the decoder's recurrence. 'gru': a GRU that reads the source (Cho et al. 2014, Bahdanau et al. 2015); "
        "'min_gru': two minimal GRUs, whose gates read no state (Feng et al. 2024), one that reads the words before "
        "attention asks, one that reads what attention finds; it is faster, and has none of --recurrent-dropout, "
        "--skip-io, --skip-time, and --no-gate-bias",
        was_fixed=True,
    )
    decoder_second_hop: bool = option(
        False,
        "with --decoder-cell min_gru, let attention ask once more, with what both recurrences know, and score words "
        "from what it finds then (Sukhbaatar et al. 2015, section 2.2)",
        was_fixed=True,
    )
    decoder_layers: int = option(
        1,
        "number of decoder layers, as in fairseq's lstm (Bahdanau et al. 2015: 1); the two recurrences of min_gru are "
        "the first",
    )
    decoder_out_embed_dim: int = option(
        512, "units of the readout, from which the vocabulary is scored (Bahdanau et al. 2015, A.2.3: 500)"
    )
    decoder_readout: DECODER_READOUT_CHOICES = option(
        "maxout",
        "the features that words are scored from, made of state, previous word, and context: 'maxout' units, each the "
        "larger of two sums (Cho et al. 2014; Bahdanau et al. 2015, A.2.2), or the 'linear' sums themselves, with half "
        "as many products (this project's own)",
        was_fixed=True,
    )
    decoder_attention: DECODER_ATTENTION_CHOICES = option(
        "additive",
        "what the decoder reads: 'none' reads the encoder's summary (Cho et al. 2014), 'additive' the annotations "
        "(Bahdanau et al. 2015), 'dot' and 'general' the annotations with the scores of Luong et al. (2015), "
        "'scaled_dot' and 'scaled_general' with these scores divided by the root of the units that are summed over, "
        "as in Vaswani et al. (2017)",
    )
    decoder_order: DECODER_ORDER_CHOICES = option(
        "word_first",
        "what comes first in the step that predicts y_i. 'word_first': the state reads y_{i-1}, attention asks with "
        "that state, and y_i is scored from the same state, y_{i-1}, and the context; y_1 is scored without a begin "
        "symbol (the authors' released code; Nematus and fairseq's lstm also ask with a state that has read y_{i-1}). "
        "'attention_first': attention asks with s_{i-1}, which has not read y_{i-1} (Bahdanau et al. 2015, A.2.2 to "
        "the letter), then the state reads y_{i-1} and the context, and y_i is scored from s_i, y_{i-1}, and the "
        "context (ibid., eq. 4; the readout in A.2.2 prints s_{i-1}). Formerly called score_first and update_first",
        former_names=FORMER_ORDERS,
    )
    decoder_output_rank: int = option(
        0, "rank of the output matrix (Cho et al. 2014a, appendix: 100; their later code: the embedding size); 0: full"
    )

    encoder_layer_norm: bool = option(
        False,
        "layer norm (Ba et al. 2016): in gru_encoder on the output of each layer, in each direction; in any other "
        "encoder on annotations and summary, one for both",
    )
    encoder_self_attention_heads: int = option(
        0,
        "heads of a self-attention over the annotations of any encoder, with residual connection and layer norm "
        "(Vaswani et al. 2017, sections 3.1 and 3.2); must divide their width; the summary is unchanged, except that "
        "with --decoder-attention none, where nothing reads the annotations, the summary attends to them instead; 0: "
        "off",
    )
    decoder_self_attention_heads: int = option(
        0,
        "heads of a causal self-attention over the outputs of the top decoder layer, up to the one that the readout is "
        "about to see, also with residual connection and layer norm (Vaswani et al. 2017, sections 3.1 and 3.2); must "
        "divide --decoder-hidden-size; 0: off",
    )

    gru_rank: int = option(
        0,
        "inner size of the two factors that each input, gate, candidate and context matrix of the GRU layers is kept "
        "as, in the decoder and in gru_encoder (Kuchaiev & Ginsburg 2017; from a trained model with "
        "recurrent-mt factorize, as in Prabhavalkar et al. 2016); 0: whole matrices",
    )
    token_shift: bool = option(
        False,
        "minimal GRUs, in the decoder and in min_gru_encoder, also read what entered one position before, each number "
        "times a learned weight: a convolution of width 2 (after Peng et al. 2023)",
    )
    skip_io: bool = option(
        False,
        "add each GRU layer's input to its output, in the decoder and in gru_encoder, through a projection where the "
        "widths differ (Wu et al. 2016, 3.1; He et al. 2016)",
    )
    skip_time: int = option(
        0,
        "K: what enters step t of a GRU layer, in the decoder and in gru_encoder, is g * h[t-1] + (1 - g) * h[t-K] "
        "with a learned gate g for each unit (after Zhang et al. 2016); 2 or more; 0: off",
    )
    decoder_transition_depth: int = option(
        1,
        "L: GRU cells in a row within each time step of a decoder layer, the first with the inputs, the others with "
        "the previous cell's state alone (Miceli Barone et al. 2017, section 2.2; Pascanu et al. 2014). Word and "
        "context enter the first cell, and attention asks with the state after the last one, in either --decoder-order",
    )
    decoder_layer_norm: bool = option(False, "layer norm on the output of each decoder layer (Ba et al. 2016)")

    no_gate_bias: bool = option(
        False, "biases only in the GRUs' candidates and in layer norms, as in the authors' released code"
    )
    embed_bias: bool = option(False, "add a bias to both embeddings, as the authors' released code does")
    initialization: INITIALIZATION_CHOICES = option(
        "default",
        "'published': orthogonal recurrent matrices, N(0, 0.01²) elsewhere, N(0, 0.001²) in the alignment model "
        "(Bahdanau et al. 2015, B.1)",
        decides="training",
    )
    encoder_spectral_radius: float = option(
        1.0,
        "scale of the encoder's recurrent matrices (GRUs, grConv) in --initialization published, as in the authors' "
        "released code",
        decides="training",
    )
    decoder_spectral_radius: float = option(
        1.0,
        "scale of the decoder's recurrent matrices in --initialization published, as in the authors' released code",
        decides="training",
    )

    share_decoder_input_output_embed: bool = option(
        False, "one matrix for target embedding and output, as in fairseq's lstm"
    )
    share_all_embeddings: bool = option(
        False, "one matrix for both embeddings and output, as in fairseq's lstm; needs a joined dictionary"
    )

    autocast: AUTOCAST_CHOICES = option(
        "none",
        "'bfloat16': matrix products in that dtype, in training and search; weights, states, sums, and softmax keep "
        "their own (torch.autocast; Micikevicius et al. 2018); 'none': up to fairseq, whose --amp does it on a GPU",
        decides="training",
    )
