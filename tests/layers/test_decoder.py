from itertools import product

import pytest
import torch

from recurrent_mt.kernels.packing import make_packing
from recurrent_mt.layers.attention import ATTENTIONS, Attention, DecoderSelfAttention
from recurrent_mt.layers.conditioned_gru import ConditionedGRU
from recurrent_mt.layers.decoder import GRUDecoder, Readout
from recurrent_mt.layers.encoder_output import EncoderOutput
from recurrent_mt.layers.gru_cell import PLAIN, GRUVariant
from recurrent_mt.layers.min_gru import MinGRU
from recurrent_mt.layers.min_gru_decoder import MinGRUDecoder
from tests.combinations import pairwise
from tests.kernels.batches import every_backend, needs_native, random, within
from tests.tolerances import INVARIANCE

EMBED, HIDDEN, OUTPUT, SUMMARY = 4, 6, 3, 5
TARGET_LENGTHS = [3, 6, 1]

every_score = pytest.mark.parametrize("attention", [None, *ATTENTIONS])
READERS = [None, "additive", "dot", "general", "scaled_general"]

ORDERS = {
    "attention_first": {"word_first": False},
    "word_first": {"word_first": True},
    "min_gru": {"min_gru": True},
    "second_hop": {"min_gru": True, "second_hop": True},
}
VARIANTS = {
    "plain": {"variant": PLAIN},
    "low_rank_and_layer_norm": {"variant": GRUVariant(rank=2, layer_norm=True, token_shift=True)},
    "all_parts": {"variant": GRUVariant(rank=2, input_skip=True, time_skip=3, layer_norm=True)},
    "deep_transition": {"variant": GRUVariant(transition_depth=3)},
    "all_parts_without_kernels": {
        "variant": GRUVariant(rank=2, input_skip=True, time_skip=3, layer_norm=True, transition_depth=2)
    },
}
HEADS = {"": {"heads": 0}, "self_attention": {"heads": 2}}
DEPTHS = {"one_layer": {"num_layers": 1}, "three_layers": {"num_layers": 3}}


def decoders(*factors):
    """Arguments of :func:`build`: all combinations, natively too where there are kernels; all but a few are slow."""
    chosen, quick = [], pairwise(READERS, *factors)
    for attention, *names in product(READERS, *factors):
        options = {k: v for factor, name in zip(factors, names) for k, v in factor[name].items()}
        if options.get("min_gru") and names[-2] not in ("plain", "low_rank_and_layer_norm"):
            continue
        if options.get("second_hop") and attention is None:
            continue
        name = "-".join([str(attention), *filter(None, names)])
        slow = [] if (attention, *names) in quick else [pytest.mark.slow]
        chosen.append(pytest.param(attention, options, id=name, marks=slow))
        if options["variant"].in_kernels and not options["heads"]:
            native = {**options, "backend": "native"}
            chosen.append(pytest.param(attention, native, id=f"{name}-native", marks=[*slow, needs_native]))
    return pytest.mark.parametrize(("attention", "options"), chosen)


every_decoder = decoders(DEPTHS, ORDERS, VARIANTS, HEADS)
every_deep_decoder = decoders(ORDERS, VARIANTS, HEADS)


def build(
    attention,
    num_layers=1,
    *,
    word_first=False,
    min_gru=False,
    second_hop=False,
    variant=PLAIN,
    heads=0,
    backend="packed",
):
    torch.manual_seed(3)
    options = {
        "summary_size": SUMMARY,
        "num_layers": num_layers,
        "self_attention": DecoderSelfAttention(HIDDEN, num_heads=heads) if heads else None,
    }
    if min_gru:
        decoder = min_grus(attention, variant, 1 + second_hop, options)
    else:
        decoder = grus(attention, variant, word_first, options)
    for parameter in decoder.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    decoder.forward = within(backend, decoder.forward)
    # Without gradients, as in a search: with them, what attends natively is ``packed``.
    decoder.step = torch.set_grad_enabled(backend != "native")(within(backend, decoder.step))
    return decoder


def readout(context_size):
    return Readout(state_size=HIDDEN, embed_size=EMBED, context_size=context_size, output_size=OUTPUT)


def min_grus(attention, variant, hops, options):
    size = HIDDEN if attention else SUMMARY
    layers = [MinGRU(inputs, HIDDEN, variant=variant) for inputs in (EMBED, size)]
    scores = Attention(attention, state_size=HIDDEN, annotation_size=HIDDEN, hops=hops) if attention else None
    return MinGRUDecoder(layers[0], scores, layers[1], readout(size), **options)


def grus(attention, variant, word_first, decoder_options):
    size = HIDDEN if attention else SUMMARY
    first = ConditionedGRU(EMBED, HIDDEN, context_size=size, attention=attention, variant=variant)
    return GRUDecoder(first, readout(size), word_first=word_first, **decoder_options)


def source(batch=3, width=5):
    mask = torch.arange(width) < torch.tensor([0, 3, 1])[:batch, None]
    annotations = random(batch, width, HIDDEN).masked_fill(mask.unsqueeze(2), 0)
    return EncoderOutput(annotations, mask, random(batch, SUMMARY))


def previous_words(lengths=TARGET_LENGTHS):
    """Embedded words (B, T, E), right-padded, and their mask."""
    mask = torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None]
    return random(len(lengths), max(lengths), EMBED), mask


def teacher_force(decoder, encoded, embedded, mask):
    """Features (B, T, O), attention (B, T, S'), and state for embedded words (B, T, E)."""
    packing = make_packing(mask)
    features, attention, state = decoder(packing.pack(embedded), packing, encoded)
    return packing.unpack(features), None if attention is None else packing.unpack(attention), state


@every_decoder
def test_step_by_step_equals_teacher_forcing(attention, options):
    decoder, encoded = build(attention, **options), source()
    embedded, mask = previous_words()
    expected, expected_attention, _ = teacher_force(decoder, encoded, embedded, mask)
    first, first_attention, state = teacher_force(decoder, encoded, embedded[:, :1], mask[:, :1])
    torch.testing.assert_close(first[:, 0], expected[:, 0], **INVARIANCE)
    if attention:
        torch.testing.assert_close(first_attention[:, 0], expected_attention[:, 0], **INVARIANCE)
    for position in range(1, embedded.size(1)):
        features, weights, state = decoder.step(embedded[:, position], encoded, state)
        running = ~mask[:, position]
        torch.testing.assert_close(features[running], expected[running, position], **INVARIANCE)
        if attention:
            torch.testing.assert_close(weights[running], expected_attention[running, position], **INVARIANCE)


@every_decoder
def test_the_returned_state_continues_each_sentence_after_its_last_word(attention, options):
    assert_continued(build(attention, **options), TARGET_LENGTHS)


def test_minimal_grus_continue_a_sentence_without_words_from_its_start():
    assert_continued(build("additive", 2, min_gru=True, variant=GRUVariant(token_shift=True)), [0, 6, 1])


def assert_continued(decoder, lengths):
    encoded = source()
    embedded, mask = previous_words(lengths)
    *_, state = teacher_force(decoder, encoded, embedded, mask)
    following = random(3, EMBED, seed=9)
    continued, _, _ = decoder.step(following, encoded, state)
    for row, length in enumerate(lengths):
        whole = torch.cat([embedded[row : row + 1, :length], following[row].view(1, 1, -1)], dim=1)
        alone = encoded.index_select(torch.tensor([row]))
        features, _, _ = teacher_force(decoder, alone, whole, torch.zeros(1, length + 1, dtype=torch.bool))
        torch.testing.assert_close(continued[row], features[0, -1], **INVARIANCE)


@every_deep_decoder
def test_reordered_states_equal_decoding_anew(attention, options):
    decoder, encoded = build(attention, 2, **options), source()
    embedded, _ = previous_words()
    mask = torch.zeros(3, 6, dtype=torch.bool)
    order = torch.tensor([2, 0, 0, 1])
    *_, state = teacher_force(decoder, encoded, embedded, mask)
    following = random(4, EMBED, seed=9)
    continued, _, _ = decoder.step(following, encoded.index_select(order), state.index_select(order))
    anew, _, _ = teacher_force(
        decoder,
        encoded.index_select(order),
        torch.cat([embedded[order], following.unsqueeze(1)], dim=1),
        torch.zeros(4, 7, dtype=torch.bool),
    )
    torch.testing.assert_close(continued, anew[:, -1], **INVARIANCE)


@every_deep_decoder
@pytest.mark.parametrize(
    "orders",
    [
        pytest.param([[0, 0, 1, 1, 2, 2], [1, 0, 2, 2, 4, 5], [3, 2, 5, 5]], id="a sentence ends"),
        pytest.param([[0, 0, 1, 1, 2, 2], [0, 1, 2, 4, 5], [4, 0, 1, 3]], id="beams of unequal width"),
        pytest.param([[2, 2, 0, 0], [2, 3, 0, 1], [1, 1, 1, 3, 2, 2]], id="sentences change places"),
    ],
)
def test_hypotheses_of_a_beam_equal_decoding_anew(attention, options, orders):
    """The encoded sentences are kept once for all hypotheses, through the first step and reorderings."""
    decoder, encoded = build(attention, 2, **options), source()
    rows = torch.tensor(orders[0])
    searched, sentence = encoded.index_select(rows), rows
    words = random(len(rows), 1, EMBED)
    mask = torch.zeros(len(rows), 1, dtype=torch.bool)
    features, weights, state = teacher_force(decoder, searched, words, mask)
    for seed, order in enumerate([range(len(rows)), *orders[1:]]):
        rows = torch.tensor(list(order))
        searched, state = searched.index_select(rows), state.index_select(rows)
        sentence, words = sentence[rows], words[rows]
        words = torch.cat([words, random(len(rows), 1, EMBED, seed=20 + seed)], dim=1)
        features, weights, state = decoder.step(words[:, -1], searched, state)
        alone = EncoderOutput(*(field[sentence] for field in encoded[:3]))
        anew, anew_weights, _ = teacher_force(decoder, alone, words, torch.zeros(words.shape[:2], dtype=torch.bool))
        torch.testing.assert_close(features, anew[:, -1], **INVARIANCE)
        if attention:
            torch.testing.assert_close(weights, anew_weights[:, -1], **INVARIANCE)


@every_deep_decoder
def test_words_that_all_hypotheses_share_may_be_embedded_once(attention, options):
    decoder, encoded = build(attention, 2, **options), source()
    embedded, mask = previous_words()
    *_, state = teacher_force(decoder, encoded, embedded, mask)
    words, word = random(2, EMBED, seed=9), torch.tensor([1, 0, 1])
    expected, expected_attention, following = decoder.step(words[word], encoded, state)
    features, weights, once = decoder.step(words, encoded, state, word)
    torch.testing.assert_close(features, expected, **INVARIANCE)
    torch.testing.assert_close(once.hidden, following.hidden, **INVARIANCE)
    if attention:
        torch.testing.assert_close(weights, expected_attention, **INVARIANCE)


def test_a_search_copies_no_source_while_all_sentences_run():
    decoder, encoded = build("additive"), source()
    searched = encoded.index_select(torch.tensor([0, 0, 1, 1, 2, 2]))
    assert searched.beam == 2
    _, _, state = teacher_force(decoder, searched, random(6, 1, EMBED), torch.zeros(6, 1, dtype=torch.bool))
    order = torch.tensor([1, 1, 2, 3, 5, 4])
    reordered, following = searched.index_select(order), state.index_select(order)
    for before, after in [(encoded, searched), (searched, reordered)]:
        assert all(one.data_ptr() == other.data_ptr() for one, other in zip(before[:3], after[:3]))
    assert following.keys.data_ptr() == state.keys.data_ptr()
    assert state.keys.size(0) == 3 and following.hidden.size(0) == 6


def test_a_search_multiplies_the_source_once():
    decoder, encoded = build("additive"), source()
    searched = encoded.index_select(torch.tensor([0, 0, 1, 1, 2, 2]))
    words = random(6, 1, EMBED)
    _, _, state = teacher_force(decoder, searched, words, torch.zeros(6, 1, dtype=torch.bool))
    _, _, first = decoder.step(words[:, 0], searched, state)
    _, _, second = decoder.step(words[:, 0], searched, first.index_select(torch.tensor([1, 1, 2, 3, 5, 4])))
    assert first.products.shape == (3, 5, 3 * HIDDEN + 2 * OUTPUT)
    assert second.products.data_ptr() == first.products.data_ptr()


@every_decoder
def test_poison_on_target_padding_reaches_no_output_and_no_gradient(attention, options):
    decoder, encoded = build(attention, **options), source()
    embedded, mask = previous_words()
    results = []
    for filler in (0.0, float("nan")):
        filled = embedded.masked_fill(mask.unsqueeze(2), filler).requires_grad_()
        features, *_ = teacher_force(decoder, encoded, filled, mask)
        gradients = torch.autograd.grad((features**2).sum(), [filled, *decoder.parameters()])
        results.append((features, gradients))
    torch.testing.assert_close(results[1], results[0])
    assert results[0][0][mask].eq(0).all()
    assert all(gradient.abs().sum() > 0 for gradient in results[0][1])


def test_without_attention_the_annotations_are_not_read():
    decoder, encoded = build(None), source()
    poisoned = encoded._replace(annotations=torch.full_like(encoded.annotations, float("nan")))
    embedded, mask = previous_words()
    torch.testing.assert_close(
        teacher_force(decoder, poisoned, embedded, mask)[0], teacher_force(decoder, encoded, embedded, mask)[0]
    )


@every_score
@every_backend(["packed", "native"])
def test_one_step_of_the_decoder_follows_the_equations(attention, backend):
    """The first step of one sentence, written out: Cho et al. (2014a) and Bahdanau et al. (2015), A.2."""
    decoder, encoded = build(attention, backend=backend), source(batch=1)
    y = random(1, EMBED, seed=4)
    features, *_ = teacher_force(decoder, encoded, y.unsqueeze(1), torch.zeros(1, 1, dtype=torch.bool))
    s = torch.tanh(decoder.initial(encoded.summary))
    c = encoded.summary
    if attention:
        h = encoded.annotations[0]
        parameters = decoder.first.attention
        keys = h if parameters.key is None else h @ parameters.key.weight.t()
        if attention == "additive":
            energy = torch.tanh(s @ parameters.query_weight.t() + keys) @ parameters.score
        else:
            energy = keys @ s[0] / (HIDDEN**0.5 if attention.startswith("scaled") else 1)
        c = torch.softmax(energy, dim=0)[None] @ h
    first = decoder.first.gru
    W_r, W_z, W = first.input_weight.split(HIDDEN)
    U_r, U_z = first.gate_weight.split(HIDDEN)
    C_r, C_z, C = decoder.first.context_weight.split(HIDDEN)
    b_r, b_z, b = first.bias.split(HIDDEN)
    r = torch.sigmoid(y @ W_r.t() + s @ U_r.t() + c @ C_r.t() + b_r)
    z = torch.sigmoid(y @ W_z.t() + s @ U_z.t() + c @ C_z.t() + b_z)
    candidate = torch.tanh(y @ W.t() + (r * s) @ first.candidate_weight.t() + c @ C.t() + b)
    s = z * s + (1 - z) * candidate
    t = decoder.readout.state(s) + decoder.readout.previous_word(y) + decoder.readout.context(c)
    expected = torch.maximum(t[:, 0::2], t[:, 1::2])
    torch.testing.assert_close(features[0], expected, **INVARIANCE)


def test_maxout_takes_the_larger_of_neighbors():
    readout = Readout(state_size=4, embed_size=1, context_size=1, output_size=2)
    with torch.no_grad():
        readout.state.weight.copy_(torch.eye(4))
    features = readout(torch.tensor([[1.0, 2.0, 5.0, -7.0]]), torch.zeros(1, 4), torch.zeros(1, 4))
    assert features.tolist() == [[2.0, 5.0]]


@pytest.mark.parametrize("number", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_the_gradient_of_maxout_is_that_of_the_larger_neighbor_or_of_the_first_of_equals(number):
    pairs = torch.tensor([[1, 2, 5, -7], [3, 3, -1, -1]], dtype=number, requires_grad=True)
    readout = Readout(state_size=4, embed_size=1, context_size=1, output_size=2).to(number).requires_grad_(False)
    readout.state.weight.copy_(torch.eye(4))
    nothing = torch.zeros(2, 4, dtype=number)
    features = readout(pairs, nothing, nothing)
    features.backward(torch.tensor([[0.5, 2], [3, -4]], dtype=number))
    assert features.dtype == number and pairs.grad.tolist() == [[0, 0.5, 2, 0], [3, 0, -4, 0]]


def test_attention_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match=r"dot compares states of 4 units with .* of 8: .*, or use scaled_general"):
        Attention("dot", state_size=4, annotation_size=8)
