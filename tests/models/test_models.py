"""What every registered model must provide to fairseq."""

import copy
from itertools import product

import pytest
import torch
from fairseq.criterions.cross_entropy import CrossEntropyCriterion
from fairseq.dataclass.configs import FairseqConfig

from tests.models.building import ARCHITECTURES, ATTENTION_NAMES, ENCODERS_WITH_ATTENTION, build, sample, sources, task
from tests.tolerances import INVARIANCE

every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)
with_and_without_attention = pytest.mark.parametrize(("architecture", "attention"), ENCODERS_WITH_ATTENTION)

#: Options beside the attention.
OPTIONS = {
    "plain": {},
    "two_encoder_layers": {"encoder_layers": 2, "encoder_bidirectional": True, "dropout": 0.2},
    "two_decoder_layers": {"decoder_layers": 2, "dropout": 0.2},
    "word_first": {"decoder_order": "word_first", "decoder_layers": 2},
    "low_rank_output": {"decoder_output_rank": 3},
    "gru_rank": {"gru_rank": 3, "encoder_bidirectional": True, "decoder_layers": 2},
    "skip_io": {"skip_io": True, "decoder_layers": 2, "dropout": 0.1},
    "skip_time": {"skip_time": 2, "decoder_layers": 2},
    "encoder_layer_norm": {"encoder_layer_norm": True, "encoder_bidirectional": True, "encoder_layers": 2},
    "normalized_output": {"encoder_layer_norm": True},
    "encoder_transition": {"encoder_transition_depth": 3, "encoder_bidirectional": True, "encoder_layers": 2},
    "decoder_transition": {"decoder_transition_depth": 3, "decoder_layers": 2, "recurrent_dropout": 0.1},
    "all_gru_parts": {"gru_rank": 4, "skip_io": True, "skip_time": 3, "decoder_layer_norm": True, "decoder_layers": 2},
    "encoder_self_attention": {"encoder_self_attention_heads": 5},
    "decoder_self_attention": {"decoder_self_attention_heads": 5, "decoder_layers": 2, "dropout": 0.1},
    "self_attention_on_both_sides": {
        "encoder_self_attention_heads": 1,
        "decoder_self_attention_heads": 1,
        "decoder_order": "word_first",
        "encoder_bidirectional": True,
        "gru_rank": 4,
        "skip_time": 2,
        "decoder_layer_norm": True,
    },
    "pyramid_self_attention": {
        "grconv_annotations": "pyramid",
        "grconv_annotation_height": 2,
        "encoder_self_attention_heads": 5,
    },
    "biases": {"no_gate_bias": True, "embed_bias": True},
    "min_gru": {"decoder_cell": "min_gru"},
    "second_hop": {"decoder_cell": "min_gru", "decoder_second_hop": True, "token_shift": True},
    "linear_readout": {"decoder_readout": "linear"},
    "backward_summary": {"encoder_bidirectional": True, "encoder_summary": "backward"},
    "published_initialization": {"initialization": "published", "encoder_spectral_radius": 0.4},
    "relu": {"grconv_activation": "relu"},
    "sepconv_kernels": {"encoder_layers": 1, "sepconv_kernels": "3,5,7"},
    "unet_depth": {"unet_depth": 2},
    "vnet_depth": {"vnet_depth": 2},
    "dilated": {"grconv_dilated": True, "encoder_hidden_size": 6},
    "dilated_own_weights": {
        "grconv_dilated": True,
        "grconv_dilated_weights": 4,
        "encoder_layer_norm": True,
        "encoder_hidden_size": 6,
    },
    "dilated_max": {"grconv_dilated": True, "grconv_dilated_summary": "max", "encoder_hidden_size": 6},
    "dilated_positions": {"grconv_dilated": True, "grconv_dilated_positions": True, "encoder_hidden_size": 6},
    "published_grconv_variants": {
        "grconv_annotations": "pyramid",
        "grconv_annotation_height": 1,
        "grconv_height": 3,
        "initialization": "published",
    },
    "shared_output": {"share_decoder_input_output_embed": True, "decoder_out_embed_dim": 8},
    "autocast": {"autocast": "bfloat16"},
    "frozen": {"encoder_freeze_embed": True, "decoder_freeze_embed": True},
}

#: Options that each encoder's own code answers.
ANSWERED_BY_THE_ENCODER = (
    "plain",
    "normalized_output",
    "published_initialization",
    "autocast",
    "encoder_self_attention",
)

#: Options that only attention reads, and what is said of them without it.
ATTENTION_ONLY = {
    "encoder_summary": "does not read one direction of --encoder-bidirectional",
    "grconv_annotations": "never reads the pyramid's nodes",
    "decoder_second_hop": "an attention that asks again",
}


def has_options(architecture, options):
    from fairseq.models import MODEL_DATACLASS_REGISTRY

    return all(hasattr(MODEL_DATACLASS_REGISTRY[architecture](), name) for name in options)


def cross_entropy(model, batch):
    loss, _, _ = CrossEntropyCriterion(task(), sentence_avg=False)(model, batch)
    return loss


def trainings():
    """Each option with every architecture that has it, without and with attention. Most of them are slow.

    By default an option is trained once; one that the encoder's own code answers, with every encoder.
    """
    for name, options in OPTIONS.items():
        architectures = [architecture for architecture in ARCHITECTURES if has_options(architecture, options)]
        first = "gru_encoder" if "gru_encoder" in architectures else architectures[0]
        default = {(first, "additive")}
        if name in ANSWERED_BY_THE_ENCODER:
            default |= {(architecture, "additive") for architecture in architectures}
        attentions = ATTENTION_NAMES if name == "plain" else ("none", "additive")
        if name == "plain":
            default |= {(first, attention) for attention in attentions}
        for architecture, attention in product(architectures, attentions):
            marks = () if (architecture, attention) in default else pytest.mark.slow
            case = f"{architecture}-{name}-{attention}"
            yield pytest.param(architecture, options, attention, id=case, marks=marks)


@pytest.mark.parametrize(("architecture", "options", "attention"), list(trainings()))
def test_an_option_value_trains(architecture, options, attention):
    for message in (text for name, text in ATTENTION_ONLY.items() if attention == "none" and name in options):
        with pytest.raises(ValueError, match=message):
            build(architecture, decoder_attention=attention, **options)
        return
    model = build(architecture, decoder_attention=attention, **options)
    batch = sample([4, 1, 6], [5, 2, 7])
    before = cross_entropy(model.eval(), batch)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.02)
    for _ in range(2):
        optimizer.zero_grad()
        cross_entropy(model.train(), batch).backward()
        missing = [name for name, p in model.named_parameters() if p.requires_grad and p.grad is None]
        assert not missing
        optimizer.step()
    assert cross_entropy(model.eval(), batch) < before


@with_and_without_attention
def test_neither_scores_nor_attention_depend_on_the_batch_its_order_or_the_side_of_its_padding(architecture, attention):
    """Of padded sources, fairseq's own lstm returns attention in flipped positions: its alignments are wrong."""
    model = build(architecture, decoder_attention=attention).eval()
    lengths, target_lengths = [4, 1, 6, 9], [5, 2, 7, 3]
    previous = sample(lengths, target_lengths)["net_input"]["prev_output_tokens"]
    tokens, _ = sources(lengths).values()
    order = torch.tensor([2, 3, 0, 1])
    permuted = model(
        src_tokens=tokens[order], src_lengths=torch.tensor(lengths)[order], prev_output_tokens=previous[order]
    )
    for left_pad in (True, False):
        batch = sources(lengths, left_pad=left_pad)
        scores, extra = model(**batch, prev_output_tokens=previous)
        torch.testing.assert_close(permuted[0], scores[order], **INVARIANCE)
        for row, (length, target_length) in enumerate(zip(lengths, target_lengths)):
            place = slice(9 - length, None) if left_pad else slice(length)
            alone, extra_alone = model(
                src_tokens=batch["src_tokens"][row : row + 1, place],
                src_lengths=torch.tensor([length]),
                prev_output_tokens=previous[row : row + 1, :target_length],
            )
            torch.testing.assert_close(scores[row, :target_length], alone[0], **INVARIANCE)
            if attention != "none":
                weights = extra["attn"][0][row, :target_length]
                torch.testing.assert_close(weights[:, place], extra_alone["attn"][0][0], **INVARIANCE)
                torch.testing.assert_close(weights.sum(dim=1), torch.ones(target_length))


def test_a_model_without_attention_returns_none_and_refuses_to_print_alignments():
    model = build("gru_encoder", decoder_attention="none").eval()
    assert model(**sample([3, 2], [4, 1])["net_input"])[1] is None
    config = copy.deepcopy(FairseqConfig())  # its parts are those of all
    config.generation.print_alignment = "hard"
    with pytest.raises(ValueError, match=r"--print-alignment needs attention.*--decoder-attention none"):
        model.prepare_for_inference_(config)


def test_the_search_may_change_the_scores_in_place():
    """fairseq divides them by a temperature; the embedding behind a shared output must not notice."""
    model = build("gru_encoder", share_decoder_input_output_embed=True, decoder_out_embed_dim=8).eval()
    batch = sample([3, 2], [4, 1])["net_input"]
    with torch.no_grad():
        before = model(**batch)[0].clone()
        model(**batch)[0].div_(3.0)
        torch.testing.assert_close(model(**batch)[0], before)


@every_architecture
def test_bfloat16_weights_give_nearly_the_same_scores(architecture):
    model = build(architecture).eval()
    batch = sample([4, 1, 6], [5, 2, 7])["net_input"]
    expected = model(**batch)[0]
    scores = model.bfloat16()(**batch)[0]
    assert scores.dtype is torch.bfloat16
    assert (scores.float() - expected).abs().max() < 0.05


@with_and_without_attention
def test_autocast_narrows_products_alone(architecture, attention):
    """As --autocast, and around the model as fairseq's --amp does it on a GPU."""
    model = build(architecture, decoder_attention=attention).eval()
    batch = sample([4, 1, 6], [5, 2, 7])["net_input"]
    expected = model(**batch)[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        around = model(**batch)[0]
    scores = build(architecture, decoder_attention=attention, autocast="bfloat16").eval()(**batch)[0]
    torch.testing.assert_close(scores, around)
    assert scores.dtype is torch.bfloat16 and not torch.equal(scores.float(), expected)
    assert (scores.float() - expected).abs().max() < 0.05
