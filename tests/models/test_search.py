"""fairseq's own beam search, ensembles and scorer over our models."""

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator, SequenceGeneratorWithAlignment
from fairseq.sequence_scorer import SequenceScorer
from torch.nn.utils.rnn import pad_sequence

from tests.combinations import half
from tests.models.building import ARCHITECTURES, ATTENTION_NAMES, build, sources, task
from tests.tolerances import INVARIANCE


def models(architecture, attention, *, count=1, **options):
    """Models whose words depend strongly on source and prefix, so that beams really cross."""
    built = []
    for index in range(count):
        model = build(architecture, decoder_attention=attention, **options)
        torch.manual_seed(20 + index)
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.5)
        built.append(model.eval())
    return built


def generate(built, batch, **options):
    generator = SequenceGenerator(built, task().target_dictionary, **{"beam_size": 5, "max_len_b": 9, **options})
    return generator.generate(built, {"net_input": batch})


def record_reorderings(decoder):
    """The orders in which the search asks the decoder to arrange its hypotheses, as it goes."""
    orders, reorder = [], decoder.reorder_incremental_state

    def recorded(incremental_state, new_order):
        orders.append(new_order.tolist())
        return reorder(incremental_state, new_order)

    decoder.reorder_incremental_state = recorded
    return orders


def assert_search_agrees_with_teacher_forcing(built, *, attention, tolerance=INVARIANCE):
    """The search steps, caches, reorders and drops finished sentences; the scorer sees each hypothesis whole."""
    batch = sources([3, 7, 1, 5])
    orders = record_reorderings(built[0].decoder)
    beams = generate(built, batch)
    assert any(order != sorted(order) or len(set(order)) < len(order) for order in orders), "the beam never branched"
    found = [hypothesis for beam in beams for hypothesis in beam]
    rows = torch.tensor([row for row, beam in enumerate(beams) for _ in beam])
    target = pad_sequence([hypothesis["tokens"] for hypothesis in found], batch_first=True, padding_value=1)
    previous = torch.cat([torch.full((len(found), 1), 2), target[:, :-1].masked_fill(target[:, :-1] == 2, 1)], dim=1)
    forced = {name: field[rows] for name, field in batch.items()} | {"prev_output_tokens": previous}
    scorer = SequenceScorer(task().target_dictionary)
    for hypothesis, (scored,) in zip(found, scorer.generate(built, {"net_input": forced, "target": target})):
        torch.testing.assert_close(scored["positional_scores"], hypothesis["positional_scores"], **tolerance)
        if attention:
            weights = scored["attention"].t()[:, : len(hypothesis["tokens"])]
            torch.testing.assert_close(weights, hypothesis["attention"], **tolerance)


DECODERS = {
    "attention_first": {"decoder_order": "attention_first"},
    "word_first": {"decoder_order": "word_first"},
    "min_gru": {"decoder_cell": "min_gru", "decoder_layer_norm": True},
    "second_hop": {"decoder_cell": "min_gru", "decoder_second_hop": True, "token_shift": True},
}


def searches():
    """By default one encoder with every attention, alone and in an ensemble, each decoder, and the others once."""
    for attention, count, decoder in half(ATTENTION_NAMES, [1, 2], list(DECODERS)):
        if (attention, decoder) == ("none", "second_hop"):
            continue
        for architecture in ARCHITECTURES:
            default = architecture == "gru_encoder" or (attention, count) == ("additive", 2)
            yield pytest.param(architecture, attention, count, decoder, marks=() if default else pytest.mark.slow)


@pytest.mark.parametrize(("architecture", "attention", "count", "decoder"), list(searches()))
def test_scores_of_the_search_are_those_of_teacher_forcing(architecture, attention, count, decoder):
    built = models(architecture, attention, count=count, decoder_layers=2, **DECODERS[decoder])
    assert_search_agrees_with_teacher_forcing(built, attention=attention != "none")


@pytest.mark.parametrize("attention", ["none", "additive"])
def test_a_search_with_narrow_products_is_off_by_their_rounding(attention):
    built = models("gru_encoder", attention, decoder_layers=2, autocast="bfloat16")
    assert_search_agrees_with_teacher_forcing(built, attention=attention != "none", tolerance={"rtol": 0, "atol": 0.2})


def test_translations_do_not_depend_on_the_batch():
    built = models("gru_encoder", "additive")
    lengths = [3, 7, 1, 5]
    together = sources(lengths)
    hypotheses = generate(built, together)
    for row, length in enumerate(lengths):
        alone = {"src_tokens": together["src_tokens"][row : row + 1, -length:], "src_lengths": torch.tensor([length])}
        expected = generate(built, alone, max_len_b=9)[0][0]
        # fairseq limits the target by the batch's longest source; both limits are the constant here.
        assert hypotheses[row][0]["tokens"].tolist() == expected["tokens"].tolist()
        torch.testing.assert_close(hypotheses[row][0]["score"], expected["score"], **INVARIANCE)


@pytest.mark.parametrize(
    ("architecture", "options"),
    [("gru_encoder", {}), ("grconv_encoder", {"grconv_annotations": "pyramid", "grconv_annotation_height": 2})],
)
def test_printed_alignments_point_at_the_attended_word(architecture, options):
    built = models(architecture, "general", **options)
    batch = sources([3, 7, 1, 5])
    generator = SequenceGeneratorWithAlignment(built, task().target_dictionary, beam_size=2, max_len_b=9)
    for row, beam in enumerate(generator.generate(built, {"net_input": batch})):
        length = batch["src_lengths"][row].item()
        for hypothesis in beam:
            weights = hypothesis["attention"][-length:][: length - 1]  # the words, without padding and </s>
            words = len(hypothesis["tokens"]) - 1
            expected = [(weights[:, i].argmax().item(), i) for i in range(words)] if length > 1 else []
            assert hypothesis["alignment"] == expected


@pytest.mark.parametrize(
    ("attention", "options", "alike"),
    half(["none", "additive"], [{}, {"skip_time": 3}, {"decoder_self_attention_heads": 2}], [True, False]),
)
def test_hypotheses_that_start_the_same_are_started_once(attention, options, alike):
    (model,) = models("gru_encoder", attention, **options)
    batch, beam = sources([3, 7]), 3
    encoded = model.encoder(**batch)
    order = torch.arange(2).repeat_interleave(beam)
    together = model.encoder.reorder_encoder_out(encoded, order)
    apart = encoded._replace(**{name: field[order] for name, field in zip(encoded._fields[:3], encoded[:3])})
    begin = torch.tensor([[2, 5], [2, 6]] if alike else [[2, 5], [2, 6], [2, 7], [2, 5], [2, 8], [2, 9]])
    begin = begin[order] if alike else begin
    sizes, layer = [], model.decoder.layer.forward
    model.decoder.layer.forward = lambda words, packing, *rest: (
        sizes.append(packing.sorted_indices.numel()),
        layer(words, packing, *rest),
    )[1]
    states = {}, {}
    for tokens in (begin, torch.cat([begin, torch.tensor([[4], [5], [6], [7], [8], [9]])], dim=1)):
        results = [model.decoder(tokens, out, state) for out, state in zip((together, apart), states)]
        torch.testing.assert_close(results[0][0], results[1][0], **INVARIANCE)
    assert sizes == [2 if alike else 6, 6]
